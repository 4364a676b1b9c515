// RUN: tile-opt %s -p tile-to-nest | filecheck %s

// Kernels that differ in names alone are made once, and have the name of the first; one with
// another number in it, or for another type, is a kernel of its own.
// CHECK:     sym_name = "f_0_x"
// CHECK:     sym_name = "f_1_z"
// CHECK:     sym_name = "f_2_h"
// CHECK-NOT: sym_name = "f_3
// CHECK:     %x = "gpu.alloc"
// CHECK:     %A, %x) <{kernel = @f_kernels::@f_0_x
// CHECK:     %B, %y) <{kernel = @f_kernels::@f_0_x
// CHECK:     %A, %z) <{kernel = @f_kernels::@f_1_z
// CHECK:     %H, %h) <{kernel = @f_kernels::@f_2_h
func.func @f(%A: tensor<8xf32>, %B: tensor<8xf32>, %H: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>) {
  %x = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
    %c = tile.constant 2.0 : tensor<f32>
    %r = tile.mul %a, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %y = tile.kernel(%b = %B : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
    %two = tile.constant 2.0 : tensor<f32>
    %twice = tile.mul %b, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    tile.yield %twice : tensor<8xf32>
  }
  %z = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
    %c = tile.constant 3.0 : tensor<f32>
    %r = tile.mul %a, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %h = tile.kernel(%a = %H : tensor<8xf16>) -> tensor<8xf16> schedule <local.x d0 : 8> {
    %c = tile.constant 2.0 : tensor<f16>
    %r = tile.mul %a, %c : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
    tile.yield %r : tensor<8xf16>
  }
  func.return %x, %y, %z, %h : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>
}
