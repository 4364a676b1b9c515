// What a device would take minutes for is said: nobody can interrupt a kernel that runs.
// RUN: tile-opt %s -p tile-bounds,tile-fuse,tile-loop-tiling --split-input-file | filecheck %s

// CHECK: tile.warnings = ["{{.*}}tile_loop_tiling_long.mlir:{{[0-9]+}}:{{[0-9]+}}: O goes through 1000000000000000 points, which takes about {{[0-9]+}} hours on this device; a kernel that runs cannot be interrupted"]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "arithmetic" = 1.0e+02 : f64>>} {
func.func @sum(%A: tensor<1000xf32>) -> tensor<1000xf32> {
  %O = tile.contraction add(%A[i]) -> [i] where 0 <= j < 1000000000000 : (tensor<1000xf32>) -> tensor<1000xf32>
  func.return %O : tensor<1000xf32>
}
}

// -----

// CHECK-NOT: tile.warnings
// CHECK: @product
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "arithmetic" = 1.0e+02 : f64>>} {
func.func @product(%A: tensor<2048x2048xf32>, %B: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %O = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j]
       : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  func.return %O : tensor<2048x2048xf32>
}
}

// -----

// A scan does linear work, whatever its points are.
// CHECK-NOT: tile.warnings
// CHECK: @totals
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "arithmetic" = 1.0e+02 : f64>>} {
func.func @totals(%A: tensor<100000000xf32>) -> tensor<100000000xf32> {
  %S = tile.scan add %A axis 0 : (tensor<100000000xf32>) -> tensor<100000000xf32>
  func.return %S : tensor<100000000xf32>
}
}
