// RUN: tile-opt %s -p 'tile-to-gpu' -t opencl --split-input-file | filecheck %s

// Of fewer pieces than work-items some copy none; what is copied beyond an edge is 0.
// CHECK: __kernel
// CHECK:      bool [[SOME:.*]] = i * 2 + j < 16;
// CHECK-NEXT: if ([[SOME]]) {
// CHECK-NEXT:     copy_async_16(b_tile + {{.*}}, b + {{.*}});
// CHECK-NEXT: }
// CHECK:      for (int k = 0; k < 4; ++k) {
// CHECK:          copy_async_16_if(a_tile + {{.*}}, a + {{.*}}, {{.*}});
// CHECK-NEXT:     if ([[SOME]]) {
// CHECK-NEXT:         copy_async_16_if(b_tile + {{.*}}, b + {{.*}}, {{.*}});
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @product(%A: tensor<28x16xf32>, %B: tensor<28x8xf32>) -> tensor<16x8xf32> {
    %C = tile.kernel(%a = %A : tensor<28x16xf32>, %b = %B : tensor<28x8xf32>) -> tensor<16x8xf32> schedule <local.x i : 16, local.x 4*j : 2, serial 8*k : 4, serial k : 8, vector j : 4> stage <%a local at 8*k async copies 3 vector 4, %b local at 8*k async copies 3 vector 4> {
      %c = tile.contraction add(%a[k, i] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 8, k = 0 to 28> : (tensor<28x16xf32>, tensor<28x8xf32>) -> tensor<16x8xf32>
      tile.yield %c : tensor<16x8xf32>
    }
    func.return %C : tensor<16x8xf32>
  }
}

// -----

// Transposed tiles are copied word by word.
// CHECK: __kernel
// CHECK:      copy_async_4(a_tile + [[TO:v_[0-9]+]], a + [[FROM:v_[0-9]+]]);
// CHECK-NEXT: copy_async_4(a_tile + [[TO]] + 4, a + [[FROM]] + 128);
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @turned(%A: tensor<16x32xf32>, %B: tensor<8x32xf32>) -> tensor<16x8xf32> {
    %C = tile.kernel(%a = %A : tensor<16x32xf32>, %b = %B : tensor<8x32xf32>) -> tensor<16x8xf32> schedule <local.x i : 16, local.x 4*j : 2, serial 8*k : 4, serial k : 8, vector j : 4> stage <%a local at 8*k async copies 3 pad 4 order (1, 0), %b local at 8*k async copies 3 pad 4 order (1, 0)> {
      %c = tile.contraction add(%a[i, k] mul %b[j, k]) -> [i, j] domain <i = 0 to 16, j = 0 to 8, k = 0 to 32> : (tensor<16x32xf32>, tensor<8x32xf32>) -> tensor<16x8xf32>
      tile.yield %c : tensor<16x8xf32>
    }
    func.return %C : tensor<16x8xf32>
  }
}
