// RUN: tile-opt %s -p tile-loop-tiling --split-input-file | filecheck %s

// Tiles that are not transposed on their way are copied by the device itself.
// CHECK: @transposed
// CHECK: stage <%a local at {{[0-9]+}}*k async copies {{[23]}} vector 4, %b local at {{[0-9]+}}*k async copies {{[23]}} vector 4, %a private at k vector 4, %b private at k vector 4>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @transposed(%A: tensor<1024x2048xf32>, %B: tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
    %C = tile.kernel(%a = %A : tensor<1024x2048xf32>, %b = %B : tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
      %c = tile.contraction add(%a[k, i] mul %b[k, j]) -> [i, j] domain <i = 0 to 2048, j = 0 to 2048, k = 0 to 1024> : (tensor<1024x2048xf32>, tensor<1024x2048xf32>) -> tensor<2048x2048xf32>
      tile.yield %c : tensor<2048x2048xf32>
    }
    func.return %C : tensor<2048x2048xf32>
  }
}

// -----

// If one is, both go through registers.
// CHECK: @plain
// CHECK: stage <%a local at {{[0-9]+}}*k copies 2 pad 4 vector 4 order (1, 0), %b local at {{[0-9]+}}*k copies 2 vector 4,
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @plain(%A: tensor<2048x1024xf32>, %B: tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
    %C = tile.kernel(%a = %A : tensor<2048x1024xf32>, %b = %B : tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
      %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 2048, j = 0 to 2048, k = 0 to 1024> : (tensor<2048x1024xf32>, tensor<1024x2048xf32>) -> tensor<2048x2048xf32>
      tile.yield %c : tensor<2048x2048xf32>
    }
    func.return %C : tensor<2048x2048xf32>
  }
}

// -----

// Where both are, they are copied word by word, if a work-item has many sums.
// CHECK: @both
// CHECK: stage <%a local at 8*k async copies 3 pad 4 order (1, 0), %b local at 8*k async copies 3 pad 4 order (1, 0), %a private at k vector 4, %b private at k vector 4>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @both(%A: tensor<1576x768xf32>, %B: tensor<2304x768xf32>) -> tensor<1576x2304xf32> {
    %C = tile.kernel(%a = %A : tensor<1576x768xf32>, %b = %B : tensor<2304x768xf32>) -> tensor<1576x2304xf32> {
      %c = tile.contraction add(%a[i, k] mul %b[j, k]) -> [i, j] domain <i = 0 to 1576, j = 0 to 2304, k = 0 to 768> : (tensor<1576x768xf32>, tensor<2304x768xf32>) -> tensor<1576x2304xf32>
      tile.yield %c : tensor<1576x2304xf32>
    }
    func.return %C : tensor<1576x2304xf32>
  }
}

// -----

// Older devices cannot, nor is it done where rows begin amidst 16 bytes.
// CHECK: @older
// CHECK-NOT: async
// CHECK: @uneven
// CHECK-NOT: async
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 75 : i64, "compute_units" = 132 : i64>>} {
  func.func @older(%A: tensor<1024x2048xf32>, %B: tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
    %C = tile.kernel(%a = %A : tensor<1024x2048xf32>, %b = %B : tensor<1024x2048xf32>) -> tensor<2048x2048xf32> {
      %c = tile.contraction add(%a[k, i] mul %b[k, j]) -> [i, j] domain <i = 0 to 2048, j = 0 to 2048, k = 0 to 1024> : (tensor<1024x2048xf32>, tensor<1024x2048xf32>) -> tensor<2048x2048xf32>
      tile.yield %c : tensor<2048x2048xf32>
    }
    func.return %C : tensor<2048x2048xf32>
  }
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @uneven(%A: tensor<1024x2047xf32>, %B: tensor<1024x2047xf32>) -> tensor<2047x2047xf32> {
    %C = tile.kernel(%a = %A : tensor<1024x2047xf32>, %b = %B : tensor<1024x2047xf32>) -> tensor<2047x2047xf32> {
      %c = tile.contraction add(%a[k, i] mul %b[k, j]) -> [i, j] domain <i = 0 to 2047, j = 0 to 2047, k = 0 to 1024> : (tensor<1024x2047xf32>, tensor<1024x2047xf32>) -> tensor<2047x2047xf32>
      tile.yield %c : tensor<2047x2047xf32>
    }
    func.return %C : tensor<2047x2047xf32>
  }
}
