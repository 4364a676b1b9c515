// RUN: tile-opt %s -t opencl | filecheck %s

// Ops with two results.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (i32, i32, memref<1xi32>, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %out : memref<1xi32>, %flag : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %sum, %carry = arith.addui_extended %a, %b : i32, i1
    memref.store %sum, %out[%c0] : memref<1xi32>
    memref.store %carry, %flag[%c0] : memref<1xi1>
    %low, %high = arith.mulsi_extended %a, %b : i32
    memref.store %low, %out[%c0] : memref<1xi32>
    memref.store %high, %out[%c0] : memref<1xi32>
    %low2, %high2 = arith.mului_extended %a, %b : i32
    memref.store %high2, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "extended_i32"} : () -> ()

  "gpu.func"() <{function_type = (i8, i8, memref<1xi8>, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i8, %b : i8, %out : memref<1xi8>, %flag : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %sum, %carry = arith.addui_extended %a, %b : i8, i1
    memref.store %sum, %out[%c0] : memref<1xi8>
    memref.store %carry, %flag[%c0] : memref<1xi1>
    %low, %high = arith.mulsi_extended %a, %b : i8
    memref.store %low, %out[%c0] : memref<1xi8>
    memref.store %high, %out[%c0] : memref<1xi8>
    %low2, %high2 = arith.mului_extended %a, %b : i8
    memref.store %high2, %out[%c0] : memref<1xi8>
    "gpu.return"() : () -> ()
  }) {sym_name = "extended_i8"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      __kernel void extended_i32(int a, int b, __global int *restrict out, __global uchar *restrict flag)
// CHECK-NEXT: {
// CHECK-NEXT:     int sum = (uint)a + b;
// CHECK-NEXT:     bool carry = (uint)sum < (uint)a;
// CHECK-NEXT:     out[0] = sum;
// CHECK-NEXT:     flag[0] = carry;
// CHECK-NEXT:     int low = (uint)a * b;
// CHECK-NEXT:     int high = mul_hi(a, b);
// CHECK-NEXT:     out[0] = low;
// CHECK-NEXT:     out[0] = high;
// CHECK-NEXT:     int high2 = mul_hi((uint)a, (uint)b);
// CHECK-NEXT:     out[0] = high2;
// CHECK-NEXT: }
//
// CHECK:      __kernel void extended_i8(
// CHECK-NEXT:     char a,
// CHECK-NEXT:     char b,
// CHECK-NEXT:     __global char *restrict out,
// CHECK-NEXT:     __global uchar *restrict flag)
// CHECK-NEXT: {
// CHECK-NEXT:     char sum = (char)(a + b);
// CHECK-NEXT:     bool carry = (uchar)sum < (uchar)a;
// CHECK-NEXT:     out[0] = sum;
// CHECK-NEXT:     flag[0] = carry;
// CHECK-NEXT:     char low = (char)(a * b);
// CHECK-NEXT:     char high = mul_hi(a, b);
// CHECK-NEXT:     out[0] = low;
// CHECK-NEXT:     out[0] = high;
// CHECK-NEXT:     char high2 = mul_hi((uchar)a, (uchar)b);
// CHECK-NEXT:     out[0] = high2;
// CHECK-NEXT: }
