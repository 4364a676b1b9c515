// RUN: tile-opt %s -p 'tile-split-scatter{parts=3}' | filecheck %s
// RUN: tile-opt %s -p 'tile-split-scatter{parts=3 keep=S}' | filecheck %s --check-prefix=KEPT
// RUN: tile-opt %s -p tile-split-scatter | filecheck %s --check-prefix=CHOSEN
// RUN: not tile-opt %s -p 'tile-split-scatter{parts=0}' 2>&1 | filecheck %s --check-prefix=NONE

// NONE: `parts` must be at least 1, got 0

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64, "bandwidth" = 2900.0 : f64, "launch" = 5.0 : f64>>} {

// Many indices of few rows are searched in parts, and rows of parts added to at the same time.
// CHECK-LABEL: @few_rows
// CHECK-NEXT: %S_parts = tile.scatter %U, %I, %V parts 3 : (tensor<1048576x64xf32>, tensor<1048576xi32>, tensor<1000xf32>) -> tensor<3x1000x64xf32>
// CHECK-NEXT: %S = tile.contraction add(%S_parts[part, i0, i1]) -> [i0, i1] domain <i0 = 0 to 1000, i1 = 0 to 64, part = 0 to 3>
// KEPT-LABEL: @few_rows
// KEPT-NEXT: %S = tile.scatter %U, %I, %V : (
// CHOSEN-LABEL: @few_rows
// CHOSEN-NEXT: tile.scatter %U, %I, %V parts 128
func.func @few_rows(%U: tensor<1048576x64xf32>, %I: tensor<1048576xi32>, %V: tensor<1000xf32>) -> tensor<1000x64xf32> {
  %S = tile.scatter %U, %I, %V : (tensor<1048576x64xf32>, tensor<1048576xi32>, tensor<1000xf32>) -> tensor<1000x64xf32>
  func.return %S : tensor<1000x64xf32>
}

// The results of many rows in parts would take longer than the search; what has parts keeps them.
// CHOSEN-LABEL: @many_rows
// CHOSEN-NEXT: tile.scatter %U, %I, %V : (
// CHOSEN-NEXT: tile.scatter %U, %I, %V parts 2 : (
// CHECK-LABEL: @many_rows
// CHECK: parts 2 : (
func.func @many_rows(%U: tensor<32768x1024xf32>, %I: tensor<32768xi32>, %V: tensor<50000xf32>) -> (tensor<50000x1024xf32>, tensor<2x50000x1024xf32>) {
  %S = tile.scatter %U, %I, %V : (tensor<32768x1024xf32>, tensor<32768xi32>, tensor<50000xf32>) -> tensor<50000x1024xf32>
  %T = tile.scatter %U, %I, %V parts 2 : (tensor<32768x1024xf32>, tensor<32768xi32>, tensor<50000xf32>) -> tensor<2x50000x1024xf32>
  func.return %S, %T : tensor<50000x1024xf32>, tensor<2x50000x1024xf32>
}
}
