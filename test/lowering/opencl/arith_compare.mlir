// RUN: tile-opt %s -t opencl | filecheck %s

// Comparisons and choices.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (i32, i32, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.cmpi eq, %a, %b : i32
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.cmpi ne, %a, %b : i32
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.cmpi slt, %a, %b : i32
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.cmpi sle, %a, %b : i32
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.cmpi sgt, %a, %b : i32
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.cmpi sge, %a, %b : i32
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.cmpi ult, %a, %b : i32
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.cmpi ule, %a, %b : i32
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.cmpi ugt, %a, %b : i32
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.cmpi uge, %a, %b : i32
    memref.store %9, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "compare_i32"} : () -> ()

  "gpu.func"() <{function_type = (i8, i8, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i8, %b : i8, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.cmpi eq, %a, %b : i8
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.cmpi ne, %a, %b : i8
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.cmpi slt, %a, %b : i8
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.cmpi sle, %a, %b : i8
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.cmpi sgt, %a, %b : i8
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.cmpi sge, %a, %b : i8
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.cmpi ult, %a, %b : i8
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.cmpi ule, %a, %b : i8
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.cmpi ugt, %a, %b : i8
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.cmpi uge, %a, %b : i8
    memref.store %9, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "compare_i8"} : () -> ()

  "gpu.func"() <{function_type = (index, index, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : index, %b : index, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.cmpi eq, %a, %b : index
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.cmpi ne, %a, %b : index
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.cmpi slt, %a, %b : index
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.cmpi sle, %a, %b : index
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.cmpi sgt, %a, %b : index
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.cmpi sge, %a, %b : index
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.cmpi ult, %a, %b : index
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.cmpi ule, %a, %b : index
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.cmpi ugt, %a, %b : index
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.cmpi uge, %a, %b : index
    memref.store %9, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "compare_index"} : () -> ()

  "gpu.func"() <{function_type = (i1, i1, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i1, %b : i1, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.cmpi eq, %a, %b : i1
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.cmpi ne, %a, %b : i1
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.cmpi slt, %a, %b : i1
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.cmpi sle, %a, %b : i1
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.cmpi sgt, %a, %b : i1
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.cmpi sge, %a, %b : i1
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.cmpi ult, %a, %b : i1
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.cmpi ule, %a, %b : i1
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.cmpi ugt, %a, %b : i1
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.cmpi uge, %a, %b : i1
    memref.store %9, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "compare_i1"} : () -> ()

  "gpu.func"() <{function_type = (f32, f32, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : f32, %b : f32, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.cmpf false, %a, %b : f32
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.cmpf oeq, %a, %b : f32
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.cmpf ogt, %a, %b : f32
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.cmpf oge, %a, %b : f32
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.cmpf olt, %a, %b : f32
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.cmpf ole, %a, %b : f32
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.cmpf one, %a, %b : f32
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.cmpf ord, %a, %b : f32
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.cmpf ueq, %a, %b : f32
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.cmpf ugt, %a, %b : f32
    memref.store %9, %out[%c0] : memref<1xi1>
    %10 = arith.cmpf uge, %a, %b : f32
    memref.store %10, %out[%c0] : memref<1xi1>
    %11 = arith.cmpf ult, %a, %b : f32
    memref.store %11, %out[%c0] : memref<1xi1>
    %12 = arith.cmpf ule, %a, %b : f32
    memref.store %12, %out[%c0] : memref<1xi1>
    %13 = arith.cmpf une, %a, %b : f32
    memref.store %13, %out[%c0] : memref<1xi1>
    %14 = arith.cmpf uno, %a, %b : f32
    memref.store %14, %out[%c0] : memref<1xi1>
    %15 = arith.cmpf true, %a, %b : f32
    memref.store %15, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "compare_f32"} : () -> ()

  "gpu.func"() <{function_type = (i1, i1, f32, f32, i8, vector<4xf32>, memref<1xf32>, memref<1xi8>, memref<4xf32>, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%c : i1, %d : i1, %a : f32, %b : f32, %i : i8, %v : vector<4xf32>, %out : memref<1xf32>, %bytes : memref<1xi8>, %vectors : memref<4xf32>, %flags : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %one = arith.constant 1 : i8
    %0 = arith.select %c, %a, %b : f32
    memref.store %0, %out[%c0] : memref<1xf32>
    %1 = arith.andi %c, %d : i1
    %2 = arith.select %1, %0, %b : f32
    memref.store %2, %out[%c0] : memref<1xf32>
    %3 = arith.select %c, %i, %one : i8
    memref.store %3, %bytes[%c0] : memref<1xi8>
    %4 = vector.broadcast %a : f32 to vector<4xf32>
    %5 = arith.select %c, %v, %4 : vector<4xf32>
    vector.store %5, %vectors[%c0] : memref<4xf32>, vector<4xf32>
    %6 = arith.cmpf olt, %a, %b : f32
    %7 = arith.xori %6, %true : i1
    memref.store %7, %flags[%c0] : memref<1xi1>
    %8 = arith.cmpf oeq, %a, %b : f32
    %9 = arith.xori %8, %true : i1
    %10 = arith.ori %9, %d : i1
    %11 = arith.andi %10, %c : i1
    memref.store %11, %flags[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "selects"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      __kernel void compare_i32(int a, int b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a == b;
// CHECK-NEXT:     out[0] = a != b;
// CHECK-NEXT:     out[0] = a < b;
// CHECK-NEXT:     out[0] = a <= b;
// CHECK-NEXT:     out[0] = a > b;
// CHECK-NEXT:     out[0] = a >= b;
// CHECK-NEXT:     out[0] = (uint)a < (uint)b;
// CHECK-NEXT:     out[0] = (uint)a <= (uint)b;
// CHECK-NEXT:     out[0] = (uint)a > (uint)b;
// CHECK-NEXT:     out[0] = (uint)a >= (uint)b;
// CHECK-NEXT: }
//
// CHECK:      __kernel void compare_i8(char a, char b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a == b;
// CHECK-NEXT:     out[0] = a != b;
// CHECK-NEXT:     out[0] = a < b;
// CHECK-NEXT:     out[0] = a <= b;
// CHECK-NEXT:     out[0] = a > b;
// CHECK-NEXT:     out[0] = a >= b;
// CHECK-NEXT:     out[0] = (uchar)a < (uchar)b;
// CHECK-NEXT:     out[0] = (uchar)a <= (uchar)b;
// CHECK-NEXT:     out[0] = (uchar)a > (uchar)b;
// CHECK-NEXT:     out[0] = (uchar)a >= (uchar)b;
// CHECK-NEXT: }
//
// CHECK:      __kernel void compare_index(int a, int b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a == b;
// CHECK-NEXT:     out[0] = a != b;
// CHECK-NEXT:     out[0] = a < b;
// CHECK-NEXT:     out[0] = a <= b;
// CHECK-NEXT:     out[0] = a > b;
// CHECK-NEXT:     out[0] = a >= b;
// CHECK-NEXT:     out[0] = (uint)a < (uint)b;
// CHECK-NEXT:     out[0] = (uint)a <= (uint)b;
// CHECK-NEXT:     out[0] = (uint)a > (uint)b;
// CHECK-NEXT:     out[0] = (uint)a >= (uint)b;
// CHECK-NEXT: }
//
// CHECK:      __kernel void compare_i1(uchar a, uchar b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (b != 0) == (a != 0);
// CHECK-NEXT:     out[0] = (b != 0) != (a != 0);
// CHECK-NEXT:     out[0] = (b != 0) < (a != 0);
// CHECK-NEXT:     out[0] = (b != 0) <= (a != 0);
// CHECK-NEXT:     out[0] = (b != 0) > (a != 0);
// CHECK-NEXT:     out[0] = (b != 0) >= (a != 0);
// CHECK-NEXT:     out[0] = (a != 0) < (b != 0);
// CHECK-NEXT:     out[0] = (a != 0) <= (b != 0);
// CHECK-NEXT:     out[0] = (a != 0) > (b != 0);
// CHECK-NEXT:     out[0] = (a != 0) >= (b != 0);
// CHECK-NEXT: }
//
// CHECK:      __kernel void compare_f32(float a, float b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = false;
// CHECK-NEXT:     out[0] = a == b;
// CHECK-NEXT:     out[0] = a > b;
// CHECK-NEXT:     out[0] = a >= b;
// CHECK-NEXT:     out[0] = a < b;
// CHECK-NEXT:     out[0] = a <= b;
// CHECK-NEXT:     out[0] = islessgreater(a, b);
// CHECK-NEXT:     out[0] = isordered(a, b);
// CHECK-NEXT:     out[0] = !islessgreater(a, b);
// CHECK-NEXT:     out[0] = !(a <= b);
// CHECK-NEXT:     out[0] = !(a < b);
// CHECK-NEXT:     out[0] = !(a >= b);
// CHECK-NEXT:     out[0] = !(a > b);
// CHECK-NEXT:     out[0] = a != b;
// CHECK-NEXT:     out[0] = isunordered(a, b);
// CHECK-NEXT:     out[0] = true;
// CHECK-NEXT: }
//
// CHECK:      __kernel void selects(
// CHECK-NEXT:     uchar c,
// CHECK-NEXT:     uchar d,
// CHECK-NEXT:     float a,
// CHECK-NEXT:     float b,
// CHECK-NEXT:     char i,
// CHECK-NEXT:     float4 v,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     __global char *restrict bytes,
// CHECK-NEXT:     __global float *restrict vectors,
// CHECK-NEXT:     __global uchar *restrict flags)
// CHECK-NEXT: {
// CHECK-NEXT:     float v_1 = c != 0 ? a : b;
// CHECK-NEXT:     out[0] = v_1;
// CHECK-NEXT:     out[0] = c != 0 && d != 0 ? v_1 : b;
// CHECK-NEXT:     bytes[0] = (char)(c != 0 ? i : 1);
// CHECK-NEXT:     vstore4(c != 0 ? v : (float4)(a), 0, vectors);
// CHECK-NEXT:     flags[0] = !(a < b);
// CHECK-NEXT:     flags[0] = (a != b || d != 0) && c != 0;
// CHECK-NEXT: }
