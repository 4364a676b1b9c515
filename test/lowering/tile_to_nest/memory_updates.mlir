// RUN: tile-opt %s --split-input-file --verify-diagnostics -p tile-fuse,tile-loop-tiling,tile-to-nest | filecheck %s

// A kernel writes over the argument that it updates, which it reads at its own elements.
// CHECK:      ^bb0(%B: memref<8xf32, 1 : i32>):
// CHECK-NEXT:   nest.for %d0
// CHECK-NEXT:     %[[A:.*]] = nest.load %B[%d0]
// CHECK-NEXT:     %[[SQUARE:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK-NEXT:     nest.store %[[SQUARE]], %B[%d0]
// CHECK-LABEL: func.func @scale(
// CHECK-SAME:    {tile.name = "B", tile.updates = "A"}) {
// CHECK-NOT:   gpu.alloc
// CHECK:       "gpu.launch_func"({{.*}}, %A) <{kernel
// CHECK-NOT:   gpu.memcpy
// CHECK:       func.return %A
func.func @scale(%A: tensor<8xf32> {tile.name = "A"}) -> (tensor<8xf32> {tile.name = "B", tile.updates = "A"}) {
  %B = tile.mul %A, %A : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %B : tensor<8xf32>
}

// -----
// Elements that stay are neither read nor written.
// CHECK:      ^bb0(%C: {{.*}}, %N: {{.*}}, %B: memref<8x32xf32, 1 : i32>):
// CHECK:        nest.if 1 <= %written {
// CHECK-NEXT:     nest.for %d1
// CHECK-NEXT:       %[[NEW:.*]] = nest.load %N[0, %d1]
// CHECK-NEXT:       nest.store %[[NEW]], %B[
// CHECK-NEXT:     }
// CHECK-LABEL: func.func @replace(
func.func @replace(%A: tensor<8x32xf32> {tile.name = "A"}, %C: tensor<8x1xi1> {tile.name = "C"}, %N: tensor<1x32xf32> {tile.name = "N"}) -> (tensor<8x32xf32> {tile.name = "B", tile.updates = "A"}) {
  %B = tile.select %C, %N, %A : (tensor<8x1xi1>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  func.return %B : tensor<8x32xf32>
}

// -----
// A condition of numbers holds where they are not 0.
// CHECK:        %[[HOLDS:.*]] = arith.cmpf une, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:   %{{.*}} = arith.constant 1 : i32
// CHECK-NEXT:   %{{.*}} = arith.constant 0 : i32
// CHECK-NEXT:   %{{.*}} = arith.select %[[HOLDS]]
// CHECK-LABEL: func.func @number(
func.func @number(%A: tensor<8x32xf32> {tile.name = "A"}, %C: tensor<8x1xf32> {tile.name = "C"}, %N: tensor<1x32xf32> {tile.name = "N"}) -> (tensor<8x32xf32> {tile.name = "B", tile.updates = "A"}) {
  %B = tile.select %C, %N, %A : (tensor<8x1xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  func.return %B : tensor<8x32xf32>
}

// -----
// An argument as the initial value is not copied.
// CHECK:      ^bb0(%N: memref<2xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
// CHECK-NEXT:   nest.for %i : local.x to 2
// CHECK-LABEL: func.func @window(
// CHECK-NOT:   gpu.alloc
// CHECK-NOT:   gpu.memcpy
// CHECK:       "gpu.launch_func"({{.*}}, %N, %A) <{kernel
// CHECK:       func.return %A
func.func @window(%A: tensor<8xf32> {tile.name = "A"}, %N: tensor<2xf32> {tile.name = "N"}) -> (tensor<8xf32> {tile.name = "B", tile.updates = "A"}) {
  %B = tile.contraction assign(%N[i]) -> [i + 3] default %A domain <i = 0 to 2> : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %B : tensor<8xf32>
}

// -----
// A kernel that reads other elements than it writes does so before, and another one copies.
// CHECK-LABEL: func.func @reversed(
// CHECK:       %[[NEW:.*]] = "gpu.alloc"
// CHECK:       "gpu.launch_func"({{.*}}, %A, %[[NEW]]) <{kernel
// CHECK-NEXT:  "gpu.launch_func"({{.*}}, %[[NEW]], %A) <{kernel
// CHECK:       func.return %A
func.func @reversed(%A: tensor<8xf32> {tile.name = "A"}) -> (tensor<8xf32> {tile.name = "B", tile.updates = "A"}) {
  %B = tile.contraction assign(%A[7 - i]) -> [i] domain <i = 0 to 8> : (tensor<8xf32>) -> tensor<8xf32>
  func.return %B : tensor<8xf32>
}

// -----
// The sum over a row updates an element that no other work-item reads.
// CHECK:      ^bb0(%X: memref<4x8xf32, 1 : i32>, %B: memref<4x1xf32, 1 : i32>, %Y: memref<4x8xf32, 1 : i32>):
// CHECK-LABEL: func.func @statistics(
// CHECK-NOT:   gpu.memcpy
// CHECK:       "gpu.launch_func"({{.*}}, %X, %A, %{{.*}}) <{kernel
// CHECK-NOT:   gpu.launch_func
// CHECK:       func.return %{{.*}}, %A
func.func @statistics(%X: tensor<4x8xf32> {tile.name = "X"}, %A: tensor<4x1xf32> {tile.name = "A"}) -> (tensor<4x8xf32> {tile.name = "Y"}, tensor<4x1xf32> {tile.name = "B", tile.updates = "A"}) {
  %S = tile.contraction add(%X[i, j]) -> [i, 0] domain <i = 0 to 4, j = 0 to 8> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %Y = tile.sub %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %B = tile.add %A, %S : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %Y, %B : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----
// All work-items of a row read the element that one of them would write: another kernel copies it.
// CHECK-LABEL: func.func @spread(
// CHECK:       "gpu.launch_func"({{.*}}, %X, %A, %[[NEW:.*]], %{{.*}}) <{kernel
// CHECK:       "gpu.launch_func"({{.*}}, %[[NEW]], %A) <{kernel
func.func @spread(%X: tensor<4x8xf32> {tile.name = "X"}, %A: tensor<4x1xf32> {tile.name = "A"}) -> (tensor<4x8xf32> {tile.name = "Y"}, tensor<4x1xf32> {tile.name = "B", tile.updates = "A"}) {
  %S = tile.contraction add(%X[i, j]) -> [i, 0] domain <i = 0 to 4, j = 0 to 8> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %D = tile.sub %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %Y = tile.mul %D, %A : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %B = tile.add %A, %S : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  func.return %Y, %B : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----
// Two tensors that take one another's place.
// CHECK-LABEL: func.func @swap(
// CHECK:       %[[NEW:.*]] = "gpu.alloc"
// CHECK:       "gpu.launch_func"({{.*}}, %B, %[[NEW]]) <{kernel
// CHECK-NEXT:  "gpu.launch_func"({{.*}}, %A, %B) <{kernel
// CHECK-NEXT:  "gpu.launch_func"({{.*}}, %[[NEW]], %A) <{kernel
func.func @swap(%A: tensor<2000xf32> {tile.name = "A"}, %B: tensor<2000xf32> {tile.name = "B"}) -> (tensor<2000xf32> {tile.updates = "A"}, tensor<2000xf32> {tile.updates = "B"}) {
  func.return %B, %A : tensor<2000xf32>, tensor<2000xf32>
}

// -----
// Few elements are swapped by one kernel, which reads both before it writes.
// CHECK:      %[[B:.*]] = nest.load %A[%d0]
// CHECK-NEXT: %[[A:.*]] = nest.load %B[%d0]
// CHECK-NEXT: nest.store %[[B]], %B[%d0]
// CHECK-NEXT: nest.store %[[A]], %A[%d0]
// CHECK-LABEL: func.func @swap_few(
// CHECK-NOT:   gpu.alloc
// CHECK:       "gpu.launch_func"({{.*}}, %A, %B) <{kernel
// CHECK-NEXT:  func.return %A, %B
func.func @swap_few(%A: tensor<8xf32> {tile.name = "A"}, %B: tensor<8xf32> {tile.name = "B"}) -> (tensor<8xf32> {tile.updates = "A"}, tensor<8xf32> {tile.updates = "B"}) {
  func.return %B, %A : tensor<8xf32>, tensor<8xf32>
}

// -----
// expected-error @+1 {{result 0 updates X, which is no input}}
func.func @unknown(%A: tensor<8xf32> {tile.name = "A"}) -> (tensor<8xf32> {tile.updates = "X"}) {
  %B = tile.neg %A : (tensor<8xf32>) -> tensor<8xf32>
  func.return %B : tensor<8xf32>
}

// -----
// expected-error @+1 {{two results update A}}
func.func @twice(%A: tensor<8xf32> {tile.name = "A"}) -> (tensor<8xf32> {tile.updates = "A"}, tensor<8xf32> {tile.updates = "A"}) {
  %B = tile.neg %A : (tensor<8xf32>) -> tensor<8xf32>
  func.return %B, %B : tensor<8xf32>, tensor<8xf32>
}

// -----
// expected-error @+1 {{A is a tensor<8xf32>, and a tensor<4xf32> updates it}}
func.func @smaller(%A: tensor<8xf32> {tile.name = "A"}, %B: tensor<4xf32> {tile.name = "B"}) -> (tensor<4xf32> {tile.updates = "A"}) {
  %C = tile.neg %B : (tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}
