// RUN: tile-opt %s -p 'tile-specialize{arguments="8x6xf32","6xf32"}' --split-input-file --verify-diagnostics | filecheck %s

// Names of sizes get the values that the inputs tell, in types, parameters and functions.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %A: tensor<8x6xf32>, %x: tensor<6xf32>) -> tensor<4x2xi32>
// CHECK-NEXT: lift.split(4) %A : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
// CHECK-NEXT: lift.map(%{{.*}} in %{{.*}}) : (tensor<2x4x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:   lift.gather(i -> -i + 3) %{{.*}} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: lift.generate(%{{.*}}, %{{.*}}) : () -> tensor<4x2xi32> {
// CHECK-NEXT: lift.size(9) : () -> index
func.func @f(%A: tensor<?x?xf32, #lift.sizes<N, M>>, %x: tensor<?xf32, #lift.sizes<M>>) -> tensor<?x?xi32, #lift.sizes<N / 2, M / 3>> {
  %s = lift.split(N / 2) %A : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<2x?x?xf32, #lift.sizes<N / 2, M>>
  %r = lift.map(%p in %s) : (tensor<2x?x?xf32, #lift.sizes<N / 2, M>>) -> tensor<2x?xf32, #lift.sizes<M>> {
    %g = lift.gather(i -> (N floordiv 2) - 1 - i) %p : (tensor<?x?xf32, #lift.sizes<N / 2, M>>) -> tensor<?x?xf32, #lift.sizes<N / 2, M>>
    %zero = arith.constant 0 : index
    %row = lift.at %g, %zero : (tensor<?x?xf32, #lift.sizes<N / 2, M>>, index) -> tensor<?xf32, #lift.sizes<M>>
    lift.yield %row : tensor<?xf32, #lift.sizes<M>>
  }
  %i = lift.generate(%k, %l) : () -> tensor<?x?xi32, #lift.sizes<N / 2, M / 3>> {
    %n = lift.size(N + 1) : () -> index
    %m = arith.index_cast %n : index to i32
    lift.yield %m : i32
  }
  func.return %i : tensor<?x?xi32, #lift.sizes<N / 2, M / 3>>
}

// -----

// CHECK: M / 2 is 3, but x (axis 0) is 6
func.func @contradiction(%A: tensor<?x?xf32, #lift.sizes<N, M>>, %x: tensor<?xf32, #lift.sizes<M / 2>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
  func.return %A : tensor<?x?xf32, #lift.sizes<N, M>>
}
