// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling,tile-to-gpu' -t opencl | filecheck %s --check-prefix=CODE

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

// Cores read neighbours again from the nearest cache, as vectors that begin anywhere; those at the
// edges, some of whose lanes would be outside, are halved.
// CHECK-LABEL: func.func @difference
// CHECK:         tile.kernel(%[[X:.*]] = %X : tensor<64x65xf32>) -> tensor<64x65xf32> {
// CHECK-NEXT:      %[[A:.*]] = tile.contraction add(%[[X]][i, j + 1])
// CHECK-NEXT:      %[[B:.*]] = tile.contraction add(%[[X]][i, j - 1])
// CHECK-NEXT:      tile.sub %[[A]], %[[B]]
// CODE:         vstore16(0.0f + vload16(0, X + {{.*}} + 1) - (0.0f + vload16(0, X + {{.*}} - 1))
// CODE:         vstore2
// CODE:         vstore4
// CODE:         vstore8
// CODE-NOT:     __kernel
func.func @difference(%X: tensor<64x65xf32>) -> tensor<64x65xf32> {
  %A = tile.contraction add(%X[i, j + 1]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x65xf32>
  %B = tile.contraction add(%X[i, j - 1]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x65xf32>
  %D = tile.sub %A, %B : (tensor<64x65xf32>, tensor<64x65xf32>) -> tensor<64x65xf32>
  func.return %D : tensor<64x65xf32>
}
}
