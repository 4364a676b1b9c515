// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%x, %k = "test.op"() : () -> (tensor<8xf32>, tensor<f32>)

// CHECK:      %y = tile.custom_gradient %x wrt(%x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: ^bb0(%dy: tensor<8xf32>):
// CHECK-NEXT:   tile.yield %dy : tensor<8xf32>
// CHECK-NEXT: }
// GENERIC:      %y = "tile.custom_gradient"(%x, %x) ({
// GENERIC-NEXT: ^bb0(%dy: tensor<8xf32>):
// GENERIC-NEXT:   "tile.yield"(%dy) : (tensor<8xf32>) -> ()
// GENERIC-NEXT: }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
%y = tile.custom_gradient %x wrt(%x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
^bb0(%dy: tensor<8xf32>):
  tile.yield %dy : tensor<8xf32>
}

// Several tensors, one with a scalar for its cotangent.
// CHECK:      %z = tile.custom_gradient %y wrt(%x, %x, %k) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32> attributes {note = "z"} {
// CHECK-NEXT: ^bb0(%dz: tensor<8xf32>):
// CHECK-NEXT:   %s = tile.contraction add(%dz[i]) -> [] : (tensor<8xf32>) -> tensor<f32>
// CHECK-NEXT:   tile.yield %dz, %s, %s : tensor<8xf32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: }
%z = tile.custom_gradient %y wrt(%x, %x, %k) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32> attributes {note = "z"} {
^bb0(%dz: tensor<8xf32>):
  %s = tile.contraction add(%dz[i]) -> [] : (tensor<8xf32>) -> tensor<f32>
  tile.yield %dz, %s, %s : tensor<8xf32>, tensor<f32>, tensor<f32>
}
