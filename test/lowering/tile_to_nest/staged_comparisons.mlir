// RUN: tile-opt %s -p tile-to-nest --split-input-file | filecheck %s

// What is compared in windows needs no test where it is staged: NaN, which equals nothing, lies outside.
// CHECK:      nest.for %t : serial to 18 {
// CHECK-NEXT:   %{{[0-9]+}} = arith.constant 0x7fc00000 : f32
// CHECK-NEXT:   %{{[0-9]+}} = nest.load %x[%t - 1] if 1 <= %t and %t < 17 else %{{[0-9]+}}
// CHECK:      nest.for %j : serial to 3 {
// CHECK-NEXT:   nest.for %i_2 : vector to 4 {
// CHECK-NEXT:     %{{[0-9]+}} = nest.load %x_tile[4*%i + %i_2 + %j]
func.func @counted(%X: tensor<16xf32>, %M: tensor<16xf32>) -> tensor<16xi32> {
  %C = tile.kernel(%x = %X : tensor<16xf32>, %m = %M : tensor<16xf32>) -> tensor<16xi32>
    schedule <serial 4*i : 4, serial j : 3, vector i : 4>
    stage <%x local> {
    %c = tile.contraction add(%x[i + j - 1] eq %m[i]) -> [i] where 0 <= j < 3
         domain <i = 0 to 16, j = 0 to 3> : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi32>
    tile.yield %c : tensor<16xi32>
  }
  func.return %C : tensor<16xi32>
}

// -----

// So does what is summed where others are equal: 0 lies outside.
// CHECK:      %d_tile = nest.buffer
// CHECK-NEXT: nest.for %t_1 : serial to 18 {
// CHECK-NEXT:   %{{[0-9]+}} = nest.load %d[%t_1 - 1] if 1 <= %t_1 and %t_1 < 17 : memref
// CHECK:      nest.for %j : serial to 3 {
// CHECK-NEXT:   nest.for %i_2 : vector to 4 {
// CHECK-NEXT:     %{{[0-9]+}} = nest.load %x[4*%i + %i_2]
func.func @shared(%X: tensor<16xf32>, %M: tensor<16xf32>, %D: tensor<16xf32>) -> tensor<16xf32> {
  %S = tile.kernel(%x = %X : tensor<16xf32>, %m = %M : tensor<16xf32>, %d = %D : tensor<16xf32>) -> tensor<16xf32>
    schedule <serial 4*i : 4, serial j : 3, vector i : 4>
    stage <%m local, %d local> {
    %s = tile.contraction add(%x[i] eq %m[i + j - 1] cond %d[i + j - 1]) -> [i] where 0 <= j < 3
         domain <i = 0 to 16, j = 0 to 3> : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tile.yield %s : tensor<16xf32>
  }
  func.return %S : tensor<16xf32>
}

// -----

// Every whole number may be equal to another one.
// CHECK:      nest.for %j : serial to 3 {
// CHECK-NEXT:   nest.for %i_2 : vector to 4 {
// CHECK-NEXT:     nest.if 1 <= 4*%i + %i_2 + %j and 4*%i + %i_2 + %j < 17 {
func.func @whole(%X: tensor<16xi32>, %M: tensor<16xi32>) -> tensor<16xi32> {
  %C = tile.kernel(%x = %X : tensor<16xi32>, %m = %M : tensor<16xi32>) -> tensor<16xi32>
    schedule <serial 4*i : 4, serial j : 3, vector i : 4>
    stage <%x local> {
    %c = tile.contraction add(%x[i + j - 1] eq %m[i]) -> [i] where 0 <= j < 3
         domain <i = 0 to 16, j = 0 to 3> : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    tile.yield %c : tensor<16xi32>
  }
  func.return %C : tensor<16xi32>
}

// -----

// What is read at the places of another operand that adds nothing outside needs no test of its own.
// CHECK:      nest.for %j : serial to 3 {
// CHECK-NEXT:   nest.for %i_2 : vector to 4 {
// CHECK-NEXT:     %{{[0-9]+}} = nest.load %x[4*%i + %i_2]
func.func @shared_whole(%X: tensor<16xi32>, %M: tensor<16xi32>, %D: tensor<16xi32>) -> tensor<16xi32> {
  %S = tile.kernel(%x = %X : tensor<16xi32>, %m = %M : tensor<16xi32>, %d = %D : tensor<16xi32>) -> tensor<16xi32>
    schedule <serial 4*i : 4, serial j : 3, vector i : 4>
    stage <%m local, %d local> {
    %s = tile.contraction add(%x[i] eq %m[i + j - 1] cond %d[i + j - 1]) -> [i] where 0 <= j < 3
         domain <i = 0 to 16, j = 0 to 3> : (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    tile.yield %s : tensor<16xi32>
  }
  func.return %S : tensor<16xi32>
}
