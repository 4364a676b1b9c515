// RUN: tile-opt %s --split-input-file -p tile-gradient,canonicalize,cse | filecheck %s

// A sum: the tensor and the cotangent trade places.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[i]) -> [i, k] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %DA : tensor<3x4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i, k]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A sum of products: the product rule.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[i, j] mul %b[k, j]) -> [i, k] : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DB = tile.contraction add(%a[i, k] mul %DY[i, j]) -> [k, j] : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %DA, %DB : tensor<3x4xf32>, tensor<4x2xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}, %b: tensor<4x2xf32> {tile.name = "B"}) -> (tensor<3x2xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// Three factors.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[i, j] mul %b[k, j] mul %c[k]) -> [i, k] : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DB = tile.contraction add(%a[i, k] mul %DY[i, j] mul %c[k]) -> [k, j] : (tensor<3x4xf32>, tensor<3x2xf32>, tensor<4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    %DC = tile.contraction add(%a[i, k] mul %b[k, j] mul %DY[i, j]) -> [k] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DA, %DB, %DC : tensor<3x4xf32>, tensor<4x2xf32>, tensor<4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}, %b: tensor<4x2xf32> {tile.name = "B"}, %c: tensor<4xf32> {tile.name = "C"}) -> (tensor<3x2xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i, k] mul %b[k, j] mul %c[k]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<4xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// A sum of sums: where the other tensor is read stays a condition.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[i, j]) -> [i, k] : (tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DB = tile.contraction add(%DY[i, j]) -> [k, j] : (tensor<3x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %DA, %DB : tensor<3x4xf32>, tensor<4x2xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}, %b: tensor<4x2xf32> {tile.name = "B"}) -> (tensor<3x2xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i, k] add %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// Constraints stay.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[i]) -> [i, 2*k - 1] where 0 <= k - i < 2 : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %DA : tensor<3x4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i, 2*k - 1]) -> [i] where 0 <= k - i < 2 : (tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A condition stays; nothing flows to what is compared.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DC = tile.contraction add(%a[i] eq %b[j] cond %DY[i]) -> [i, j] : (tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %DA = tile.select %0, %a, %0 : (tensor<index>, tensor<3xf32>, tensor<index>) -> tensor<3xf32>
// CHECK-NEXT:    %DB = tile.select %0, %b, %0 : (tensor<index>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DA, %DB, %DC : tensor<3xf32>, tensor<4xf32>, tensor<3x4xf32>
func.func @f(%a: tensor<3xf32> {tile.name = "A"}, %b: tensor<4xf32> {tile.name = "B"}, %c: tensor<3x4xf32> {tile.name = "C"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i] eq %b[j] cond %c[i, j]) -> [i] : (tensor<3xf32>, tensor<4xf32>, tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// An assignment is a sum of one.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[j, i]) -> [i, j] : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %DA : tensor<3x4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}) -> (tensor<4x3xf32> {tile.name = "Y"}) {
  %y = tile.contraction assign(%a[i, j]) -> [j, i] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// The default gets the cotangent where nothing lands.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[2*i]) -> [i] : (tensor<9xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %1 = tile.contraction add(%0[]) -> [2*i] where 0 <= i < 4 : (tensor<index>) -> tensor<9xi32>
// CHECK-NEXT:    %2 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %3 = tile.cmp_eq %1, %2 : (tensor<9xi32>, tensor<index>) -> tensor<9xi1>
// CHECK-NEXT:    %DD = tile.select %3, %DY, %2 : (tensor<9xi1>, tensor<9xf32>, tensor<index>) -> tensor<9xf32>
// CHECK-NEXT:    func.return %DA, %DD : tensor<4xf32>, tensor<9xf32>
func.func @f(%a: tensor<4xf32> {tile.name = "A"}, %d: tensor<9xf32> {tile.name = "D"}) -> (tensor<9xf32> {tile.name = "Y"}) {
  %y = tile.contraction add(%a[i]) -> [2*i] default %d : (tensor<4xf32>, tensor<9xf32>) -> tensor<9xf32>
  func.return %y : tensor<9xf32>
}

// -----

// A maximum: the points that have it share equally.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.contraction max(%a[i, k]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %0 = tile.contraction add(%a[i, k] eq %y[i]) -> [i] : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3xi32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.max %0, %1 : (tensor<3xi32>, tensor<index>) -> tensor<3xi32>
// CHECK-NEXT:    %3 = tile.div %DY, %2 : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT:    %DA = tile.contraction add(%a[i, k] eq %y[i] cond %3[i]) -> [i, k] : (tensor<3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %DA : tensor<3x4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction max(%a[i, k]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A minimum of products.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.contraction min(%a[i, k] mul %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %0 = tile.contraction add(%a[i, k] mul %b[k, j] eq %y[i, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.max %0, %1 : (tensor<3x2xi32>, tensor<index>) -> tensor<3x2xi32>
// CHECK-NEXT:    %3 = tile.div %DY, %2 : (tensor<3x2xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %DA = tile.contraction add(%a[i, k] mul %b[k, j] eq %y[i, j] cond %3[i, j] mul %b[k, j]) -> [i, k] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DB = tile.contraction add(%a[i, k] mul %b[k, j] eq %y[i, j] cond %3[i, j] mul %a[i, k]) -> [k, j] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %DA, %DB : tensor<3x4xf32>, tensor<4x2xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}, %b: tensor<4x2xf32> {tile.name = "B"}) -> (tensor<3x2xf32> {tile.name = "Y"}) {
  %y = tile.contraction min(%a[i, k] mul %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// A maximum of sums.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.contraction max(%a[i, k] add %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %0 = tile.contraction add(%a[i, k] add %b[k, j] eq %y[i, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<3x2xi32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.max %0, %1 : (tensor<3x2xi32>, tensor<index>) -> tensor<3x2xi32>
// CHECK-NEXT:    %3 = tile.div %DY, %2 : (tensor<3x2xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %DA = tile.contraction add(%a[i, k] add %b[k, j] eq %y[i, j] cond %3[i, j]) -> [i, k] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DB = tile.contraction add(%a[i, k] add %b[k, j] eq %y[i, j] cond %3[i, j]) -> [k, j] : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    func.return %DA, %DB : tensor<3x4xf32>, tensor<4x2xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}, %b: tensor<4x2xf32> {tile.name = "B"}) -> (tensor<3x2xf32> {tile.name = "Y"}) {
  %y = tile.contraction max(%a[i, k] add %b[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// A maximum under a condition: first the values at all points.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.contraction assign(%a[i] eq %b[j] cond %c[i, j]) -> [i, j] : (tensor<3xi32>, tensor<4xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %1 = tile.contraction max(%0[i, j]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %2 = tile.contraction add(%0[i, j] eq %1[i]) -> [i] : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3xi32>
// CHECK-NEXT:    %3 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %4 = tile.max %2, %3 : (tensor<3xi32>, tensor<index>) -> tensor<3xi32>
// CHECK-NEXT:    %5 = tile.div %DY, %4 : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
// CHECK-NEXT:    %6 = tile.contraction add(%0[i, j] eq %1[i] cond %5[i]) -> [i, j] : (tensor<3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DC = tile.contraction add(%a[i] eq %b[j] cond %6[i, j]) -> [i, j] : (tensor<3xi32>, tensor<4xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %DC : tensor<3x4xf32>
func.func @f(%a: tensor<3xi32> {tile.name = "A"}, %b: tensor<4xi32> {tile.name = "B"}, %c: tensor<3x4xf32> {tile.name = "C"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction max(%a[i] eq %b[j] cond %c[i, j]) -> [i] : (tensor<3xi32>, tensor<4xi32>, tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A product, right where there are zeros. Its own gradient is that of the products of all others.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %1 = tile.cmp_eq %a, %0 : (tensor<3x4xf32>, tensor<index>) -> tensor<3x4xi1>
// CHECK-NEXT:    %2 = tile.contraction add(%1[i, k]) -> [i] : (tensor<3x4xi1>) -> tensor<3xi32>
// CHECK-NEXT:    %3 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %4 = tile.select %1, %3, %a : (tensor<3x4xi1>, tensor<index>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %5 = tile.contraction mul(%4[i, k]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %6 = tile.mul %DY, %5 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %7 = tile.cmp_eq %2, %0 : (tensor<3xi32>, tensor<index>) -> tensor<3xi1>
// CHECK-NEXT:    %8 = tile.select %7, %6, %0 : (tensor<3xi1>, tensor<3xf32>, tensor<index>) -> tensor<3xf32>
// CHECK-NEXT:    %9 = tile.contraction add(%8[i]) -> [i, k] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %10 = tile.cmp_eq %2, %3 : (tensor<3xi32>, tensor<index>) -> tensor<3xi1>
// CHECK-NEXT:    %11 = tile.select %10, %6, %0 : (tensor<3xi1>, tensor<3xf32>, tensor<index>) -> tensor<3xf32>
// CHECK-NEXT:    %12 = tile.contraction add(%11[i]) -> [i, k] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %13 = tile.div %9, %a : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %14 = tile.select %1, %12, %13 : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %15 = tile.contraction assign(%3[]) -> [i, k] : (tensor<index>) -> tensor<3x4xi32>
// CHECK-NEXT:    %16 = tile.contraction mul(%a[i, k_2]) -> [i, k] where 0 <= k - k_2 - 1 < 4, 0 <= i < 3 default %15 : (tensor<3x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %17 = tile.contraction mul(%a[i, k_2]) -> [i, k] where 0 <= -k + k_2 - 1 < 4, 0 <= i < 3 default %15 : (tensor<3x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %18 = tile.mul %16, %17 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %19 = tile.contraction add(%DY[i] mul %18[i, k]) -> [i, k] : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DA = tile.custom_gradient %14 wrt(%19) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
// CHECK-NEXT:    ^bb0(%20: tensor<3x4xf32>):
// CHECK-NEXT:    tile.yield %20 : tensor<3x4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %DA : tensor<3x4xf32>
func.func @f(%a: tensor<3x4xf32> {tile.name = "A"}) -> (tensor<3xf32> {tile.name = "Y"}) {
  %y = tile.contraction mul(%a[i, k]) -> [i] : (tensor<3x4xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A product with nothing to multiply.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DA = tile.contraction add(%DY[2*i, i]) -> [i] : (tensor<6x3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    func.return %DA : tensor<3xf32>
func.func @f(%a: tensor<3xf32> {tile.name = "A"}) -> (tensor<6x3xf32> {tile.name = "Y"}) {
  %y = tile.contraction mul(%a[i]) -> [2*i, i] : (tensor<3xf32>) -> tensor<6x3xf32>
  func.return %y : tensor<6x3xf32>
}
