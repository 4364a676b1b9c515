// RUN: tile-opt %s -p tile-split-rows | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 4 : i64, "native_vector_width" = 16 : i64, "max_work_group_size" = 4096 : i64,
    "bandwidth" = 40.0 : f64, "arithmetic" = 800.0 : f64, "launch" = 5.0 : f64>>} {

// The columns of so few channels would be summed in parts anyway: each part has a mean of its own, and is read
// once. A core's second cache holds a part.
// CHECK-LABEL: @channels
// CHECK: %0 = tile.reshape %X to [] : tensor<65536x16xf32> -> tensor<{{[0-9]+}}x{{[0-9]+}}x16xf32>
// CHECK-NEXT: %S_parts, %V_parts = tile.kernel
func.func @channels(%X: tensor<65536x16xf32>) -> tensor<16xf32> {
  %n = tile.constant 65536 : tensor<index>
  %S = tile.contraction add(%X[r, c]) -> [0, c] domain <r = 0 to 65536, c = 0 to 16> : (tensor<65536x16xf32>) -> tensor<1x16xf32>
  %M = tile.div %S, %n : (tensor<1x16xf32>, tensor<index>) -> tensor<1x16xf32>
  %D = tile.sub %X, %M : (tensor<65536x16xf32>, tensor<1x16xf32>) -> tensor<65536x16xf32>
  %Q = tile.mul %D, %D : (tensor<65536x16xf32>, tensor<65536x16xf32>) -> tensor<65536x16xf32>
  %V = tile.contraction add(%Q[r, c]) -> [c] domain <r = 0 to 65536, c = 0 to 16> : (tensor<65536x16xf32>) -> tensor<16xf32>
  func.return %V : tensor<16xf32>
}

// Rows that are enough for all cores stay whole.
// CHECK-LABEL: @rows
// CHECK-NOT: tile.kernel
func.func @rows(%X: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %n = tile.constant 1024 : tensor<index>
  %S = tile.contraction add(%X[r, c]) -> [r, 0] domain <r = 0 to 4096, c = 0 to 1024> : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  %M = tile.div %S, %n : (tensor<4096x1xf32>, tensor<index>) -> tensor<4096x1xf32>
  %D = tile.sub %X, %M : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  %Q = tile.mul %D, %D : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %V = tile.contraction add(%Q[r, c]) -> [r] domain <r = 0 to 4096, c = 0 to 1024> : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  func.return %V : tensor<4096xf32>
}
}
