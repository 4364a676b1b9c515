// RUN: tile-opt %s -p 'tile-gradient{function=dot wrt=x},tile-gradient{function=after with-outputs}' | filecheck %s

// The gradient of patterns is one of the contractions and elementwise ops that they stand for; the
// function itself stays as it is.
// CHECK-LABEL: func.func @dot(
// CHECK: lift.reduce
// CHECK-LABEL: func.func @dot_gradient(
// CHECK-SAME: %Dout: tensor<f32> {tile.name = "Dout", tile.cotangent_of = "out"})
// CHECK-SAME: -> (tensor<8xf32> {tile.name = "Dx", tile.cotangent_of = "x"})
// CHECK-NOT: lift.
// CHECK: tile.contraction add(%Dout[] mul %y[i]) -> [i]
func.func @dot(%x: tensor<8xf32> {tile.name = "x"}, %y: tensor<8xf32> {tile.name = "y"})
    -> (tensor<f32> {tile.name = "out"}) {
  %zero = arith.constant 0.0 : f32
  %pairs = lift.zip %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xtuple<f32, f32>>
  %sum = lift.reduce(%a from %zero, %p in %pairs) : (f32, tensor<8xtuple<f32, f32>>) -> f32 {
    %u = lift.get(0) %p : (tuple<f32, f32>) -> f32
    %v = lift.get(1) %p : (tuple<f32, f32>) -> f32
    %uv = arith.mulf %u, %v : f32
    %t = arith.addf %a, %uv : f32
    lift.yield %t : f32
  }
  %out = tensor.from_elements %sum : tensor<f32>
  func.return %out : tensor<f32>
}

// An op of tile and a pattern in one function.
// CHECK-LABEL: func.func @after_gradient(
// CHECK: %[[E:.*]] = tile.exp %x
// CHECK: %[[Y:.*]] = tile.mul %[[E]], %[[E]]
// CHECK: return %[[Y]], %Dx
func.func @after(%x: tensor<8xf32> {tile.name = "x"}) -> (tensor<8xf32> {tile.name = "y"}) {
  %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = lift.map_glb(0)(%a in %e) : (tensor<8xf32>) -> tensor<8xf32> {
    %b = arith.mulf %a, %a : f32
    lift.yield %b : f32
  }
  func.return %y : tensor<8xf32>
}
