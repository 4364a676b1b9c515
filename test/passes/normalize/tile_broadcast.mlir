// RUN: tile-opt %s --split-input-file -p tile-broadcast | filecheck %s

// What is repeated along the rows is broadcast where it is taken.
// CHECK-LABEL: @both
// CHECK-NEXT:    %y = tile.mul %s, %x : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %y
func.func @both(%x: tensor<3x4xf32>, %s: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %t = tile.contraction add(%s[0, j]) -> [i, j] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %y = tile.mul %t, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// It stays where no other operand has all elements, or it is a result itself.
// CHECK-LABEL: @alone
// CHECK-NEXT:    %t = tile.contraction
// CHECK-NEXT:    %u = tile.contraction
// CHECK-NEXT:    %y = tile.mul %s, %u
// CHECK-NEXT:    %z = tile.exp %t
func.func @alone(%s: tensor<1x4xf32>, %r: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %t = tile.contraction add(%s[0, j]) -> [i, j] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %u = tile.contraction add(%r[0, j]) -> [i, j] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %y = tile.mul %t, %u : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tile.exp %t : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y, %z, %t : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// One row of several, columns past the end of the operand, and rows that are not written, also if
// there are as many: these are no copies.
// CHECK-LABEL: @others
// CHECK-COUNT-4: tile.contraction
func.func @others(%x: tensor<3x4xf32>, %r: tensor<2x4xf32>, %s: tensor<1x3xf32>, %t: tensor<1x4xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %a = tile.contraction add(%r[0, j]) -> [i, j] : (tensor<2x4xf32>) -> tensor<3x4xf32>
  %b = tile.contraction add(%s[0, j]) -> [i, j] : (tensor<1x3xf32>) -> tensor<3x4xf32>
  %c = tile.contraction add(%t[0, j]) -> [0, j] : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %g = tile.contraction add(%x[1, j]) -> [1, j] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %d = tile.mul %a, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %e = tile.mul %b, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %f = tile.mul %c, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h = tile.mul %g, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %d, %e, %f, %h : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// An input without the axes gets them, of size 1; what is computed of it alone is, before it is
// broadcast. What is computed here stays among the ops that make it.
// CHECK-LABEL: @fewer_axes
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %r to [] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK-NEXT:    %n = tile.neg %[[R]] : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %y = tile.mul %n, %x : (tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %e = tile.exp %r
// CHECK-NEXT:    %u = tile.contraction add(%e[i]) -> [i, j]
// CHECK-NEXT:    %z = tile.mul %u, %x
func.func @fewer_axes(%x: tensor<3x4xf32>, %r: tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %t = tile.contraction add(%r[i]) -> [i, j] : (tensor<3xf32>) -> tensor<3x4xf32>
  %n = tile.neg %t : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = tile.mul %n, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %e = tile.exp %r : (tensor<3xf32>) -> tensor<3xf32>
  %u = tile.contraction add(%e[i]) -> [i, j] : (tensor<3xf32>) -> tensor<3x4xf32>
  %z = tile.mul %u, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Part of an input, and axes in another order, are no copies of it.
// CHECK-LABEL: @other_places
// CHECK-COUNT-2: tile.contraction
func.func @other_places(%x: tensor<3x4x5xf32>, %r: tensor<4xf32>, %s: tensor<4x3xf32>) -> (tensor<3x4x5xf32>, tensor<3x4x5xf32>) {
  %t = tile.contraction add(%r[i]) -> [i, j, k] : (tensor<4xf32>) -> tensor<3x4x5xf32>
  %y = tile.mul %t, %x : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %u = tile.contraction add(%s[j, i]) -> [i, j, k] : (tensor<4x3xf32>) -> tensor<3x4x5xf32>
  %z = tile.mul %u, %x : (tensor<3x4x5xf32>, tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  func.return %y, %z : tensor<3x4x5xf32>, tensor<3x4x5xf32>
}

// -----

// What has fewer axes than the result, all of them its last ones, is broadcast as it is, computed or not.
// CHECK-LABEL: @last_axes
// CHECK-NEXT:    %e = tile.exp %s
// CHECK-NEXT:    %n = tile.neg %e : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %y = tile.mul %n, %x : (tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %f = tile.exp %c
// CHECK-NEXT:    %z = tile.mul %f, %x : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
func.func @last_axes(%x: tensor<3x4xf32>, %s: tensor<f32>, %c: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = tile.exp %s : (tensor<f32>) -> tensor<f32>
  %t = tile.contraction add(%e[]) -> [i, j] : (tensor<f32>) -> tensor<3x4xf32>
  %n = tile.neg %t : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = tile.mul %n, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %f = tile.exp %c : (tensor<4xf32>) -> tensor<4xf32>
  %u = tile.contraction add(%f[j]) -> [i, j] : (tensor<4xf32>) -> tensor<3x4xf32>
  %z = tile.mul %u, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// An op of columns that are repeated is one of columns.
// CHECK-LABEL: @columns
// CHECK-NEXT:    %m = tile.mul %s, %r : (tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %y = tile.add %m, %x : (tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
func.func @columns(%x: tensor<3x4xf32>, %s: tensor<f32>, %r: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %t = tile.contraction add(%s[]) -> [i, j] : (tensor<f32>) -> tensor<3x4xf32>
  %m = tile.mul %t, %r : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %y = tile.add %m, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// What is scheduled stays: the schedule may stage it.
// CHECK-LABEL: @scheduled
// CHECK:         %e = tile.contraction add(%r_1[d0]) -> [d0, d1]
// CHECK-NEXT:    tile.mul %e, %x_1
func.func @scheduled(%x: tensor<3x4xf32>, %r: tensor<3xf32>) -> tensor<3x4xf32> {
  %y = tile.kernel(%x_1 = %x : tensor<3x4xf32>, %r_1 = %r : tensor<3xf32>) -> tensor<3x4xf32> axes <d0 = 0 to 3, d1 = 0 to 4> schedule <serial d0 : 3, serial d1 : 4> stage <%e private> {
    %e = tile.contraction add(%r_1[d0]) -> [d0, d1] : (tensor<3xf32>) -> tensor<3x4xf32>
    %m = tile.mul %e, %x_1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    tile.yield %m : tensor<3x4xf32>
  }
  func.return %y : tensor<3x4xf32>
}

// -----

// A contraction that sums one product for each element is elementwise, where an operand has all elements.
// What the other one lacks is repeated, once for all that take it.
// CHECK-LABEL: @products
// CHECK-NEXT:    %y = tile.mul %x, %z
// CHECK-NEXT:    %e = tile.exp %r
// CHECK-NEXT:    %[[E:.*]] = tile.contraction add(%e[i0]) -> [i0, i1]
// CHECK-NEXT:    %[[P:[a-z_0-9]*]] = tile.mul %x, %[[E]]
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %r to [] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK-NEXT:    %s = tile.add %x, %[[R]] : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %y, %[[P]], %[[P]], %s
func.func @products(%x: tensor<3x4xf32>, %z: tensor<3x4xf32>, %r: tensor<3xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %y = tile.contraction add(%x[i, j] mul %z[i, j]) -> [i, j] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %e = tile.exp %r : (tensor<3xf32>) -> tensor<3xf32>
  %p = tile.contraction add(%x[i, j] mul %e[i]) -> [i, j] : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  %q = tile.contraction max(%e[a] mul %x[a, b]) -> [a, b] : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = tile.contraction add(%x[i, j] add %r[i]) -> [i, j] : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  func.return %y, %p, %q, %s : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// An operand with axes of size 1 is broadcast as it is.
// CHECK-LABEL: @stretched
// CHECK-NEXT:    %y = tile.mul %x, %s : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    func.return %y, %y
func.func @stretched(%x: tensor<3x4xf32>, %s: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %y = tile.contraction add(%s[0, j] mul %x[i, j]) -> [i, j] : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tile.contraction add(%x[r, c] mul %s[0, c]) -> [r, c] : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  func.return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// These are none: no operand has all elements; places are transposed, moved or bounded; several are summed; there
// are elements beside; the result has another type.
// CHECK-LABEL: @no_products
// CHECK-COUNT-7: tile.contraction
// CHECK-NOT:     tile.mul
func.func @no_products(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>, %r: tensor<4xf32>, %b: tensor<4xi1>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xi32>) {
  %a = tile.contraction add(%r[i] mul %r[j]) -> [i, j] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %c = tile.contraction add(%x[i, j] mul %z[j, i]) -> [i, j] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = tile.contraction add(%x[i, j] mul %z[i + 1, j]) -> [i, j] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tile.contraction add(%x[i, j] mul %r[i]) -> [i, j] where 0 <= i < 3 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %f = tile.contraction add(%x[i, j] mul %z[i, j]) -> [i] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %g = tile.contraction add(%x[i, j] mul %z[i, j]) -> [i, j] default %x : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = tile.contraction add(%b[i] mul %b[i]) -> [i] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi32>
  func.return %a, %c, %d, %e, %f, %g, %h : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xi32>
}

// -----

// Three factors are two products.
// CHECK-LABEL: @three
// CHECK-NEXT:    %[[R:[a-z_0-9]*]] = tile.reshape %r
// CHECK-NEXT:    %[[P:[a-z_0-9]*]] = tile.mul %x, %y :
// CHECK-NEXT:    %{{.*}} = tile.mul %[[P]], %[[R]]
func.func @three(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %r: tensor<3xf32>) -> tensor<3x4xf32> {
  %z = tile.contraction add(%x[i, j] mul %r[i] mul %y[i, j]) -> [i, j] : (tensor<3x4xf32>, tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %z : tensor<3x4xf32>
}
