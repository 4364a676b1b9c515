// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{loads=false rows=false again=false}' | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "type" = "gpu", "compute_units" = 132 : i64>>} {

// On GPUs the first of the parts writes nothing where the others do, if they write all that is left.
// CHECK-LABEL: func.func @added
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 5] domain <i = 0 to 3>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i] default %{{.*}} domain <i = 0 to 5>
// CHECK-DAG:     tile.contraction assign(%{{.*}}[i]) -> [i + 4] domain <i = -4 to 4>
// CHECK-DAG:     tile.contraction assign(%{{.*}}[i]) -> [i] domain <i = 0 to 8>
// CHECK:         tile.add
func.func @added(%X: tensor<3xf32>, %Y: tensor<5xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %A = tile.contraction assign(%Y[i]) -> [i] domain <i = 0 to 5> : (tensor<5xf32>) -> tensor<8xf32>
  %B = tile.contraction assign(%X[i]) -> [i + 5] domain <i = 0 to 3> : (tensor<3xf32>) -> tensor<8xf32>
  %S = tile.add %B, %A : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %C = tile.contraction assign(%Y[i]) -> [i] domain <i = 0 to 5> : (tensor<5xf32>) -> tensor<8xf32>
  %D = tile.contraction assign(%X[i]) -> [i + 4] domain <i = 0 to 3> : (tensor<3xf32>) -> tensor<8xf32>
  %T = tile.add %C, %D : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %S, %T : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @gap
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i] domain <i = 0 to 8>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 5] default %{{.*}} domain <i = 0 to 3>
func.func @gap(%X: tensor<3xf32>, %Y: tensor<4xf32>) -> tensor<8xf32> {
  %A = tile.contraction assign(%Y[i]) -> [i] : (tensor<4xf32>) -> tensor<8xf32>
  %B = tile.contraction assign(%X[i]) -> [i + 5] default %A : (tensor<3xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %B : tensor<8xf32>
}

// A diagonal leaves the rest of its square to a fill.
// CHECK-LABEL: func.func @diagonal
// CHECK:         %[[FILL:.*]] = tile.kernel @{{\w+}}() -> tensor<8x4xf32>
// CHECK:         tile.kernel @{{\w+}}({{.*}} = %[[FILL]] : tensor<8x4xf32>)
// CHECK-NEXT:      tile.contraction assign(%{{.*}}[i]) -> [i, i] default %{{.*}} domain <i = 0 to 4>
func.func @diagonal(%V: tensor<4xf32>, %X: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %A = tile.contraction assign(%V[i]) -> [i, i] : (tensor<4xf32>) -> tensor<8x4xf32>
  %B = tile.contraction assign(%X[i, j]) -> [i + 4, j] default %A : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %B : tensor<8x4xf32>
}
}
