// RUN: tile-opt %s -p 'tile-merge-products{constants="V","W","B","C"},tile-bounds,tile-compose-copies' | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
  "type" = "gpu", "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
  "local_mem_size" = 49152 : i64, "bandwidth" = 2.7e+03 : f64, "arithmetic" = 5.2e+04 : f64, "launch" = 4.0 : f64>>} {

// Two products too small for the device, with the ops on their results that take constants.
// CHECK-LABEL: func.func @heads
// CHECK:         %P = tile.contraction add(%X[m, k] mul %{{.*}}[k, n]) -> [m, n] {{.*}} -> tensor<64x96xf32>
// CHECK-NEXT:    %D = tile.add %P, %{{.*}} : (tensor<64x96xf32>, tensor<96xf32>) -> tensor<64x96xf32>
// CHECK-NEXT:    %DD = tile.mul %D, %h
// CHECK-NEXT:    %S = tile.contraction add(%DD[i, k] mul %DD[j, k + 32]) -> [i, j]
func.func @heads(%X: tensor<64x128xf32> {tile.name = "X"}, %V: tensor<128x32xf32> {tile.name = "V"}, %W: tensor<128x64xf32> {tile.name = "W"}, %B: tensor<32xf32> {tile.name = "B"}, %C: tensor<64xf32> {tile.name = "C"}) -> tensor<64x64xf32> {
  %h = tile.constant 0.5 : tensor<f32>
  %P = tile.contraction add(%X[m, k] mul %V[k, n]) -> [m, n] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %Q = tile.contraction add(%X[i, j] mul %W[j, k]) -> [i, k] : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %D = tile.add %P, %B : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32>
  %E = tile.add %Q, %C : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %DD = tile.mul %D, %h : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %EE = tile.mul %E, %h : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %S = tile.contraction add(%DD[i, k] mul %EE[j, k]) -> [i, j] where 0 <= k < 32 : (tensor<64x32xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %S : tensor<64x64xf32>
}

// Ops with results of other types follow the parts.
// CHECK-LABEL: func.func @casts
// CHECK:         %P = tile.contraction add(%X[m, k] mul %{{.*}}[k, n]) -> [m, n] {{.*}} -> tensor<64x96xf32>
// CHECK:         %D = tile.cast %{{.*}} : (tensor<64x32xf32>) -> tensor<64x32xf64>
// CHECK:         %E = tile.cast %{{.*}} : (tensor<64x64xf32>) -> tensor<64x64xf16>
func.func @casts(%X: tensor<64x128xf32> {tile.name = "X"}, %V: tensor<128x32xf32> {tile.name = "V"}, %W: tensor<128x64xf32> {tile.name = "W"}) -> (tensor<64x32xf64>, tensor<64x64xf16>) {
  %P = tile.contraction add(%X[m, k] mul %V[k, n]) -> [m, n] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %Q = tile.contraction add(%X[i, j] mul %W[j, k]) -> [i, k] : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %D = tile.cast %P : (tensor<64x32xf32>) -> tensor<64x32xf64>
  %E = tile.cast %Q : (tensor<64x64xf32>) -> tensor<64x64xf16>
  func.return %D, %E : tensor<64x32xf64>, tensor<64x64xf16>
}

// A product by a tensor that varies stays, and one of another tensor; ops with others on the results follow.
// CHECK-LABEL: func.func @others
// CHECK:         tile.contraction add(%X[m, k] mul %A[k, n]) -> [m, n]
// CHECK:         tile.contraction add(%A[m, k] mul %V[k, n]) -> [m, n]
func.func @others(%X: tensor<64x64xf32> {tile.name = "X"}, %A: tensor<64x64xf32> {tile.name = "A"}, %V: tensor<64x64xf32> {tile.name = "V"}) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %P = tile.contraction add(%X[m, k] mul %A[k, n]) -> [m, n] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %Q = tile.contraction add(%A[m, k] mul %V[k, n]) -> [m, n] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %R = tile.contraction add(%X[m, k] mul %V[k, n]) -> [m, n] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %P, %Q, %R : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// Products that fill the device stay.
// CHECK-LABEL: func.func @large
// CHECK-NEXT:    tile.contraction add(%X[m, k] mul %V[k, n]) -> [m, n]
// CHECK-NEXT:    tile.contraction add(%X[m, k] mul %W[k, n]) -> [m, n]
func.func @large(%X: tensor<8192x4096xf32> {tile.name = "X"}, %V: tensor<4096x4096xf32> {tile.name = "V"}, %W: tensor<4096x4096xf32> {tile.name = "W"}) -> (tensor<8192x4096xf32>, tensor<8192x4096xf32>) {
  %P = tile.contraction add(%X[m, k] mul %V[k, n]) -> [m, n] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
  %Q = tile.contraction add(%X[m, k] mul %W[k, n]) -> [m, n] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
  func.return %P, %Q : tensor<8192x4096xf32>, tensor<8192x4096xf32>
}
}
