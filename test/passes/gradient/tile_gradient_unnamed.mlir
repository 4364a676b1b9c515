// RUN: tile-opt %s -p 'tile-gradient{with-outputs=true}' | tile-opt | filecheck %s

// What has no tile.name is called as its values are; every result gets its own attributes.
// CHECK: func.func @f_gradient(%A: tensor<4xf32> {tile.name = "A"}, %B: tensor<4xf32> {tile.name = "B"}, %DC: tensor<4xf32> {tile.name = "DC", tile.cotangent_of = "C"}) -> (tensor<4xf32> {tile.name = "C"}, tensor<4xf32> {tile.name = "DA", tile.cotangent_of = "A"}, tensor<4xf32> {tile.name = "DB", tile.cotangent_of = "B"}) attributes {tile.gradient_of = @f} {
func.func @f(%A: tensor<4xf32>, %B: tensor<4xf32>) -> tensor<4xf32> {
  %C = tile.mul %A, %B : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}
