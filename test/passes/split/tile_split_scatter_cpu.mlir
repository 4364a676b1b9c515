// RUN: tile-opt %s -p tile-split-scatter | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64,
    "bandwidth" = 60.0 : f64, "launch" = 2.0 : f64>>} {

// Whose an index is, a core foresees if all are its own: so there are parts of the indices rather than of the rows.
// CHECK-LABEL: @few_rows
// CHECK-NEXT: tile.scatter %U, %I, %V parts 4 :
// CHECK-NEXT: tile.contraction add
// CHECK-NEXT: tile.scatter %X, %J, %W parts 4 :
func.func @few_rows(%U: tensor<262144xf32>, %I: tensor<262144xi32>, %V: tensor<64xf32>,
    %X: tensor<65536x64xf32>, %J: tensor<65536xi32>, %W: tensor<1000xf32>) -> (tensor<64xf32>, tensor<1000x64xf32>) {
  %S = tile.scatter %U, %I, %V : (tensor<262144xf32>, tensor<262144xi32>, tensor<64xf32>) -> tensor<64xf32>
  %T = tile.scatter %X, %J, %W : (tensor<65536x64xf32>, tensor<65536xi32>, tensor<1000xf32>) -> tensor<1000x64xf32>
  func.return %S, %T : tensor<64xf32>, tensor<1000x64xf32>
}

// Few indices do not pay for another kernel, nor do many rows for results of parts.
// CHECK-LABEL: @whole
// CHECK-NEXT: tile.scatter %U, %I, %V : (
// CHECK-NEXT: tile.scatter %X, %J, %W : (
func.func @whole(%U: tensor<400xf32>, %I: tensor<400xi32>, %V: tensor<64xf32>,
    %X: tensor<16384x64xf32>, %J: tensor<16384xi32>, %W: tensor<32768xf32>) -> (tensor<64xf32>, tensor<32768x64xf32>) {
  %S = tile.scatter %U, %I, %V : (tensor<400xf32>, tensor<400xi32>, tensor<64xf32>) -> tensor<64xf32>
  %T = tile.scatter %X, %J, %W : (tensor<16384x64xf32>, tensor<16384xi32>, tensor<32768xf32>) -> tensor<32768x64xf32>
  func.return %S, %T : tensor<64xf32>, tensor<32768x64xf32>
}
}
