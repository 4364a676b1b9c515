// RUN: tile-opt %s -p 'tile-jvp{function=second}' | filecheck %s
// RUN: tile-opt %s -p tile-jvp --verify-diagnostics | filecheck %s --check-prefix=OPEN

//     CHECK: func.func @first(
// CHECK-NOT: @first_jvp
//     CHECK: func.func @second_jvp(
//      OPEN: name one of the functions here: first, second
func.func @first(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

func.func @second(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
