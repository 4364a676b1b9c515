// RUN: tile-opt %s -p tile-loop-tiling | filecheck %s
// RUN: tile-opt %s -p 'tile-loop-tiling{explain}' 2>&1 >/dev/null | filecheck %s --check-prefix=EXPLAIN

// Where an operand is read across, a schedule may be chosen for which a kernel copies it before.
// CHECK:      %C_a = tile.kernel @C_a(%A_1 = %A : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
// CHECK-SAME:   schedule <{{.*}}> attributes {staging} {
// CHECK:      %C = tile.kernel(%a = %C_a : tensor<2048x2048xf32>, {{.*}} schedule <
// CHECK-NOT:    global
// CHECK:        tile.contraction add(%{{.*}}[i, k] mul %{{.*}}[k, j]) -> [i, j]
// EXPLAIN:      C: {{.*}} schedules weighed
// EXPLAIN:        stage <a global order (1, 0)
// EXPLAIN:        chosen: 1, the fastest by the model
// EXPLAIN:      C_a: {{.*}} schedules weighed
// EXPLAIN:        transpositions
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"type" = "cpu", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64, "local_mem_size" = 1048576 : i64>>} {
  func.func @product(%A: tensor<2048x2048xf32>, %B: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
    %C = tile.kernel(%a = %A : tensor<2048x2048xf32>, %b = %B : tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
      %c = tile.contraction add(%a[k, i] mul %b[k, j]) -> [i, j] domain <i = 0 to 2048, j = 0 to 2048, k = 0 to 2048> : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
      tile.yield %c : tensor<2048x2048xf32>
    }
    func.return %C : tensor<2048x2048xf32>
  }
}
