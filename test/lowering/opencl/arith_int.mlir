// RUN: tile-opt %s -t opencl | filecheck %s

// Integers wrap round, which in C only unsigned ones do; index never overflows.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (i32, i32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : i32
    memref.store %0, %out[%c0] : memref<1xi32>
    %1 = arith.subi %a, %b : i32
    memref.store %1, %out[%c0] : memref<1xi32>
    %2 = arith.muli %a, %b : i32
    memref.store %2, %out[%c0] : memref<1xi32>
    %3 = arith.divsi %a, %b : i32
    memref.store %3, %out[%c0] : memref<1xi32>
    %4 = arith.remsi %a, %b : i32
    memref.store %4, %out[%c0] : memref<1xi32>
    %5 = arith.divui %a, %b : i32
    memref.store %5, %out[%c0] : memref<1xi32>
    %6 = arith.remui %a, %b : i32
    memref.store %6, %out[%c0] : memref<1xi32>
    %7 = arith.floordivsi %a, %b : i32
    memref.store %7, %out[%c0] : memref<1xi32>
    %8 = arith.ceildivsi %a, %b : i32
    memref.store %8, %out[%c0] : memref<1xi32>
    %9 = arith.ceildivui %a, %b : i32
    memref.store %9, %out[%c0] : memref<1xi32>
    %10 = arith.andi %a, %b : i32
    memref.store %10, %out[%c0] : memref<1xi32>
    %11 = arith.ori %a, %b : i32
    memref.store %11, %out[%c0] : memref<1xi32>
    %12 = arith.xori %a, %b : i32
    memref.store %12, %out[%c0] : memref<1xi32>
    %13 = arith.shli %a, %b : i32
    memref.store %13, %out[%c0] : memref<1xi32>
    %14 = arith.shrsi %a, %b : i32
    memref.store %14, %out[%c0] : memref<1xi32>
    %15 = arith.shrui %a, %b : i32
    memref.store %15, %out[%c0] : memref<1xi32>
    %16 = arith.minsi %a, %b : i32
    memref.store %16, %out[%c0] : memref<1xi32>
    %17 = arith.maxsi %a, %b : i32
    memref.store %17, %out[%c0] : memref<1xi32>
    %18 = arith.minui %a, %b : i32
    memref.store %18, %out[%c0] : memref<1xi32>
    %19 = arith.maxui %a, %b : i32
    memref.store %19, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_i32"} : () -> ()

  "gpu.func"() <{function_type = (i64, i64, memref<1xi64>) -> (), kernel}> ({
  ^bb0(%a : i64, %b : i64, %out : memref<1xi64>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : i64
    memref.store %0, %out[%c0] : memref<1xi64>
    %1 = arith.subi %a, %b : i64
    memref.store %1, %out[%c0] : memref<1xi64>
    %2 = arith.muli %a, %b : i64
    memref.store %2, %out[%c0] : memref<1xi64>
    %3 = arith.divsi %a, %b : i64
    memref.store %3, %out[%c0] : memref<1xi64>
    %4 = arith.remsi %a, %b : i64
    memref.store %4, %out[%c0] : memref<1xi64>
    %5 = arith.divui %a, %b : i64
    memref.store %5, %out[%c0] : memref<1xi64>
    %6 = arith.remui %a, %b : i64
    memref.store %6, %out[%c0] : memref<1xi64>
    %7 = arith.floordivsi %a, %b : i64
    memref.store %7, %out[%c0] : memref<1xi64>
    %8 = arith.ceildivsi %a, %b : i64
    memref.store %8, %out[%c0] : memref<1xi64>
    %9 = arith.ceildivui %a, %b : i64
    memref.store %9, %out[%c0] : memref<1xi64>
    %10 = arith.andi %a, %b : i64
    memref.store %10, %out[%c0] : memref<1xi64>
    %11 = arith.ori %a, %b : i64
    memref.store %11, %out[%c0] : memref<1xi64>
    %12 = arith.xori %a, %b : i64
    memref.store %12, %out[%c0] : memref<1xi64>
    %13 = arith.shli %a, %b : i64
    memref.store %13, %out[%c0] : memref<1xi64>
    %14 = arith.shrsi %a, %b : i64
    memref.store %14, %out[%c0] : memref<1xi64>
    %15 = arith.shrui %a, %b : i64
    memref.store %15, %out[%c0] : memref<1xi64>
    %16 = arith.minsi %a, %b : i64
    memref.store %16, %out[%c0] : memref<1xi64>
    %17 = arith.maxsi %a, %b : i64
    memref.store %17, %out[%c0] : memref<1xi64>
    %18 = arith.minui %a, %b : i64
    memref.store %18, %out[%c0] : memref<1xi64>
    %19 = arith.maxui %a, %b : i64
    memref.store %19, %out[%c0] : memref<1xi64>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_i64"} : () -> ()

  "gpu.func"() <{function_type = (i8, i8, memref<1xi8>) -> (), kernel}> ({
  ^bb0(%a : i8, %b : i8, %out : memref<1xi8>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : i8
    memref.store %0, %out[%c0] : memref<1xi8>
    %1 = arith.subi %a, %b : i8
    memref.store %1, %out[%c0] : memref<1xi8>
    %2 = arith.muli %a, %b : i8
    memref.store %2, %out[%c0] : memref<1xi8>
    %3 = arith.divsi %a, %b : i8
    memref.store %3, %out[%c0] : memref<1xi8>
    %4 = arith.remsi %a, %b : i8
    memref.store %4, %out[%c0] : memref<1xi8>
    %5 = arith.divui %a, %b : i8
    memref.store %5, %out[%c0] : memref<1xi8>
    %6 = arith.remui %a, %b : i8
    memref.store %6, %out[%c0] : memref<1xi8>
    %7 = arith.floordivsi %a, %b : i8
    memref.store %7, %out[%c0] : memref<1xi8>
    %8 = arith.ceildivsi %a, %b : i8
    memref.store %8, %out[%c0] : memref<1xi8>
    %9 = arith.ceildivui %a, %b : i8
    memref.store %9, %out[%c0] : memref<1xi8>
    %10 = arith.andi %a, %b : i8
    memref.store %10, %out[%c0] : memref<1xi8>
    %11 = arith.ori %a, %b : i8
    memref.store %11, %out[%c0] : memref<1xi8>
    %12 = arith.xori %a, %b : i8
    memref.store %12, %out[%c0] : memref<1xi8>
    %13 = arith.shli %a, %b : i8
    memref.store %13, %out[%c0] : memref<1xi8>
    %14 = arith.shrsi %a, %b : i8
    memref.store %14, %out[%c0] : memref<1xi8>
    %15 = arith.shrui %a, %b : i8
    memref.store %15, %out[%c0] : memref<1xi8>
    %16 = arith.minsi %a, %b : i8
    memref.store %16, %out[%c0] : memref<1xi8>
    %17 = arith.maxsi %a, %b : i8
    memref.store %17, %out[%c0] : memref<1xi8>
    %18 = arith.minui %a, %b : i8
    memref.store %18, %out[%c0] : memref<1xi8>
    %19 = arith.maxui %a, %b : i8
    memref.store %19, %out[%c0] : memref<1xi8>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_i8"} : () -> ()

  "gpu.func"() <{function_type = (i16, i16, memref<1xi16>) -> (), kernel}> ({
  ^bb0(%a : i16, %b : i16, %out : memref<1xi16>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : i16
    memref.store %0, %out[%c0] : memref<1xi16>
    %1 = arith.shli %a, %b : i16
    memref.store %1, %out[%c0] : memref<1xi16>
    %2 = arith.divui %a, %b : i16
    memref.store %2, %out[%c0] : memref<1xi16>
    %3 = arith.minui %a, %b : i16
    memref.store %3, %out[%c0] : memref<1xi16>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_i16"} : () -> ()

  "gpu.func"() <{function_type = (index, index, memref<1xindex>) -> (), kernel}> ({
  ^bb0(%a : index, %b : index, %out : memref<1xindex>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : index
    memref.store %0, %out[%c0] : memref<1xindex>
    %1 = arith.subi %a, %b : index
    memref.store %1, %out[%c0] : memref<1xindex>
    %2 = arith.muli %a, %b : index
    memref.store %2, %out[%c0] : memref<1xindex>
    %3 = arith.divsi %a, %b : index
    memref.store %3, %out[%c0] : memref<1xindex>
    %4 = arith.remsi %a, %b : index
    memref.store %4, %out[%c0] : memref<1xindex>
    %5 = arith.floordivsi %a, %b : index
    memref.store %5, %out[%c0] : memref<1xindex>
    %6 = arith.minsi %a, %b : index
    memref.store %6, %out[%c0] : memref<1xindex>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_index"} : () -> ()

  "gpu.func"() <{function_type = (i1, i1, memref<1xi1>) -> (), kernel}> ({
  ^bb0(%a : i1, %b : i1, %out : memref<1xi1>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : i1
    memref.store %0, %out[%c0] : memref<1xi1>
    %1 = arith.subi %a, %b : i1
    memref.store %1, %out[%c0] : memref<1xi1>
    %2 = arith.muli %a, %b : i1
    memref.store %2, %out[%c0] : memref<1xi1>
    %3 = arith.divsi %a, %b : i1
    memref.store %3, %out[%c0] : memref<1xi1>
    %4 = arith.remsi %a, %b : i1
    memref.store %4, %out[%c0] : memref<1xi1>
    %5 = arith.divui %a, %b : i1
    memref.store %5, %out[%c0] : memref<1xi1>
    %6 = arith.remui %a, %b : i1
    memref.store %6, %out[%c0] : memref<1xi1>
    %7 = arith.floordivsi %a, %b : i1
    memref.store %7, %out[%c0] : memref<1xi1>
    %8 = arith.ceildivsi %a, %b : i1
    memref.store %8, %out[%c0] : memref<1xi1>
    %9 = arith.ceildivui %a, %b : i1
    memref.store %9, %out[%c0] : memref<1xi1>
    %10 = arith.andi %a, %b : i1
    memref.store %10, %out[%c0] : memref<1xi1>
    %11 = arith.ori %a, %b : i1
    memref.store %11, %out[%c0] : memref<1xi1>
    %12 = arith.xori %a, %b : i1
    memref.store %12, %out[%c0] : memref<1xi1>
    %13 = arith.shli %a, %b : i1
    memref.store %13, %out[%c0] : memref<1xi1>
    %14 = arith.shrsi %a, %b : i1
    memref.store %14, %out[%c0] : memref<1xi1>
    %15 = arith.shrui %a, %b : i1
    memref.store %15, %out[%c0] : memref<1xi1>
    %16 = arith.minsi %a, %b : i1
    memref.store %16, %out[%c0] : memref<1xi1>
    %17 = arith.maxsi %a, %b : i1
    memref.store %17, %out[%c0] : memref<1xi1>
    %18 = arith.minui %a, %b : i1
    memref.store %18, %out[%c0] : memref<1xi1>
    %19 = arith.maxui %a, %b : i1
    memref.store %19, %out[%c0] : memref<1xi1>
    "gpu.return"() : () -> ()
  }) {sym_name = "ints_i1"} : () -> ()

  "gpu.func"() <{function_type = (i32, i32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b overflow<nsw> : i32
    memref.store %0, %out[%c0] : memref<1xi32>
    %1 = arith.subi %0, %b overflow<nsw> : i32
    memref.store %1, %out[%c0] : memref<1xi32>
    %2 = arith.muli %1, %1 overflow<nsw> : i32
    memref.store %2, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "no_wrap"} : () -> ()

  "gpu.func"() <{function_type = (i32, i32, i32, memref<1xi32>) -> (), kernel}> ({
  ^bb0(%a : i32, %b : i32, %c : i32, %out : memref<1xi32>):
    %c0 = arith.constant 0 : index
    %minus_three = arith.constant -3 : i32
    %0 = arith.muli %a, %b : i32
    %1 = arith.addi %0, %c : i32
    %2 = arith.addi %1, %minus_three : i32
    %3 = arith.shrsi %2, %c : i32
    %4 = arith.andi %3, %a : i32
    %5 = arith.ori %4, %b : i32
    %6 = arith.divui %5, %c : i32
    memref.store %6, %out[%c0] : memref<1xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "chain"} : () -> ()

  "gpu.func"() <{function_type = (vector<4xi32>, vector<4xi32>, memref<4xi32>) -> (), kernel}> ({
  ^bb0(%a : vector<4xi32>, %b : vector<4xi32>, %out : memref<4xi32>):
    %c0 = arith.constant 0 : index
    %0 = arith.addi %a, %b : vector<4xi32>
    vector.store %0, %out[%c0] : memref<4xi32>, vector<4xi32>
    %1 = arith.subi %a, %b : vector<4xi32>
    vector.store %1, %out[%c0] : memref<4xi32>, vector<4xi32>
    %2 = arith.muli %a, %b : vector<4xi32>
    vector.store %2, %out[%c0] : memref<4xi32>, vector<4xi32>
    %3 = arith.divsi %a, %b : vector<4xi32>
    vector.store %3, %out[%c0] : memref<4xi32>, vector<4xi32>
    %4 = arith.divui %a, %b : vector<4xi32>
    vector.store %4, %out[%c0] : memref<4xi32>, vector<4xi32>
    %5 = arith.floordivsi %a, %b : vector<4xi32>
    vector.store %5, %out[%c0] : memref<4xi32>, vector<4xi32>
    %6 = arith.ceildivui %a, %b : vector<4xi32>
    vector.store %6, %out[%c0] : memref<4xi32>, vector<4xi32>
    %7 = arith.andi %a, %b : vector<4xi32>
    vector.store %7, %out[%c0] : memref<4xi32>, vector<4xi32>
    %8 = arith.shli %a, %b : vector<4xi32>
    vector.store %8, %out[%c0] : memref<4xi32>, vector<4xi32>
    %9 = arith.shrsi %a, %b : vector<4xi32>
    vector.store %9, %out[%c0] : memref<4xi32>, vector<4xi32>
    %10 = arith.shrui %a, %b : vector<4xi32>
    vector.store %10, %out[%c0] : memref<4xi32>, vector<4xi32>
    %11 = arith.minsi %a, %b : vector<4xi32>
    vector.store %11, %out[%c0] : memref<4xi32>, vector<4xi32>
    %12 = arith.maxui %a, %b : vector<4xi32>
    vector.store %12, %out[%c0] : memref<4xi32>, vector<4xi32>
    "gpu.return"() : () -> ()
  }) {sym_name = "vectors"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      static inline int floordiv_int(int a, int b)
// CHECK-NEXT: {
// CHECK-NEXT:     int q = a / b;
// CHECK-NEXT:     return q - ((q * b != a) & ((a < 0) != (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline int ceildiv_int(int a, int b)
// CHECK-NEXT: {
// CHECK-NEXT:     int q = a / b;
// CHECK-NEXT:     return q + ((q * b != a) & ((a < 0) == (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline uint ceildiv_uint(uint a, uint b)
// CHECK-NEXT: {
// CHECK-NEXT:     uint q = a / b;
// CHECK-NEXT:     return q + (q * b != a);
// CHECK-NEXT: }
//
// CHECK:      static inline long floordiv_long(long a, long b)
// CHECK-NEXT: {
// CHECK-NEXT:     long q = a / b;
// CHECK-NEXT:     return q - ((q * b != a) & ((a < 0) != (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline long ceildiv_long(long a, long b)
// CHECK-NEXT: {
// CHECK-NEXT:     long q = a / b;
// CHECK-NEXT:     return q + ((q * b != a) & ((a < 0) == (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline ulong ceildiv_ulong(ulong a, ulong b)
// CHECK-NEXT: {
// CHECK-NEXT:     ulong q = a / b;
// CHECK-NEXT:     return q + (q * b != a);
// CHECK-NEXT: }
//
// CHECK:      static inline char floordiv_char(char a, char b)
// CHECK-NEXT: {
// CHECK-NEXT:     char q = a / b;
// CHECK-NEXT:     return q - ((q * b != a) & ((a < 0) != (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline char ceildiv_char(char a, char b)
// CHECK-NEXT: {
// CHECK-NEXT:     char q = a / b;
// CHECK-NEXT:     return q + ((q * b != a) & ((a < 0) == (b < 0)));
// CHECK-NEXT: }
//
// CHECK:      static inline uchar ceildiv_uchar(uchar a, uchar b)
// CHECK-NEXT: {
// CHECK-NEXT:     uchar q = a / b;
// CHECK-NEXT:     return q + (q * b != a);
// CHECK-NEXT: }
//
// CHECK:      static inline int4 floordiv_int4(int4 a, int4 b)
// CHECK-NEXT: {
// CHECK-NEXT:     int4 q = a / b;
// CHECK-NEXT:     return q + ((q * b != a) & ((a < (int4)(0)) != (b < (int4)(0))));
// CHECK-NEXT: }
//
// CHECK:      static inline uint4 ceildiv_uint4(uint4 a, uint4 b)
// CHECK-NEXT: {
// CHECK-NEXT:     uint4 q = a / b;
// CHECK-NEXT:     return q - (as_uint4(q * b != a));
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_i32(int a, int b, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (uint)a + b;
// CHECK-NEXT:     out[0] = (uint)a - b;
// CHECK-NEXT:     out[0] = (uint)a * b;
// CHECK-NEXT:     out[0] = a / b;
// CHECK-NEXT:     out[0] = a % b;
// CHECK-NEXT:     out[0] = (uint)a / (uint)b;
// CHECK-NEXT:     out[0] = (uint)a % (uint)b;
// CHECK-NEXT:     out[0] = floordiv_int(a, b);
// CHECK-NEXT:     out[0] = ceildiv_int(a, b);
// CHECK-NEXT:     out[0] = ceildiv_uint((uint)a, (uint)b);
// CHECK-NEXT:     out[0] = a & b;
// CHECK-NEXT:     out[0] = a | b;
// CHECK-NEXT:     out[0] = a ^ b;
// CHECK-NEXT:     out[0] = (uint)a << b;
// CHECK-NEXT:     out[0] = a >> b;
// CHECK-NEXT:     out[0] = (uint)a >> b;
// CHECK-NEXT:     out[0] = min(a, b);
// CHECK-NEXT:     out[0] = max(a, b);
// CHECK-NEXT:     out[0] = min((uint)a, (uint)b);
// CHECK-NEXT:     out[0] = max((uint)a, (uint)b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_i64(long a, long b, __global long *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (ulong)a + b;
// CHECK-NEXT:     out[0] = (ulong)a - b;
// CHECK-NEXT:     out[0] = (ulong)a * b;
// CHECK-NEXT:     out[0] = a / b;
// CHECK-NEXT:     out[0] = a % b;
// CHECK-NEXT:     out[0] = (ulong)a / (ulong)b;
// CHECK-NEXT:     out[0] = (ulong)a % (ulong)b;
// CHECK-NEXT:     out[0] = floordiv_long(a, b);
// CHECK-NEXT:     out[0] = ceildiv_long(a, b);
// CHECK-NEXT:     out[0] = ceildiv_ulong((ulong)a, (ulong)b);
// CHECK-NEXT:     out[0] = a & b;
// CHECK-NEXT:     out[0] = a | b;
// CHECK-NEXT:     out[0] = a ^ b;
// CHECK-NEXT:     out[0] = (ulong)a << b;
// CHECK-NEXT:     out[0] = a >> b;
// CHECK-NEXT:     out[0] = (ulong)a >> b;
// CHECK-NEXT:     out[0] = min(a, b);
// CHECK-NEXT:     out[0] = max(a, b);
// CHECK-NEXT:     out[0] = min((ulong)a, (ulong)b);
// CHECK-NEXT:     out[0] = max((ulong)a, (ulong)b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_i8(char a, char b, __global char *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (char)(a + b);
// CHECK-NEXT:     out[0] = (char)(a - b);
// CHECK-NEXT:     out[0] = (char)(a * b);
// CHECK-NEXT:     out[0] = (char)(a / b);
// CHECK-NEXT:     out[0] = (char)(a % b);
// CHECK-NEXT:     out[0] = (char)((uchar)a / (uchar)b);
// CHECK-NEXT:     out[0] = (char)((uchar)a % (uchar)b);
// CHECK-NEXT:     out[0] = floordiv_char(a, b);
// CHECK-NEXT:     out[0] = ceildiv_char(a, b);
// CHECK-NEXT:     out[0] = ceildiv_uchar((uchar)a, (uchar)b);
// CHECK-NEXT:     out[0] = (char)(a & b);
// CHECK-NEXT:     out[0] = (char)(a | b);
// CHECK-NEXT:     out[0] = (char)(a ^ b);
// CHECK-NEXT:     out[0] = (char)((uint)a << b);
// CHECK-NEXT:     out[0] = (char)(a >> b);
// CHECK-NEXT:     out[0] = (char)((uchar)a >> b);
// CHECK-NEXT:     out[0] = min(a, b);
// CHECK-NEXT:     out[0] = max(a, b);
// CHECK-NEXT:     out[0] = min((uchar)a, (uchar)b);
// CHECK-NEXT:     out[0] = max((uchar)a, (uchar)b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_i16(short a, short b, __global short *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (short)(a + b);
// CHECK-NEXT:     out[0] = (short)((uint)a << b);
// CHECK-NEXT:     out[0] = (short)((ushort)a / (ushort)b);
// CHECK-NEXT:     out[0] = min((ushort)a, (ushort)b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_index(int a, int b, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = a + b;
// CHECK-NEXT:     out[0] = a - b;
// CHECK-NEXT:     out[0] = a * b;
// CHECK-NEXT:     out[0] = a / b;
// CHECK-NEXT:     out[0] = a % b;
// CHECK-NEXT:     out[0] = floordiv_int(a, b);
// CHECK-NEXT:     out[0] = min(a, b);
// CHECK-NEXT: }
//
// CHECK:      __kernel void ints_i1(uchar a, uchar b, __global uchar *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (a != 0) != (b != 0);
// CHECK-NEXT:     out[0] = (a != 0) != (b != 0);
// CHECK-NEXT:     out[0] = a != 0 && b != 0;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = false;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = false;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0 && b != 0;
// CHECK-NEXT:     out[0] = a != 0 || b != 0;
// CHECK-NEXT:     out[0] = (a != 0) != (b != 0);
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0;
// CHECK-NEXT:     out[0] = a != 0 || b != 0;
// CHECK-NEXT:     out[0] = a != 0 && b != 0;
// CHECK-NEXT:     out[0] = a != 0 && b != 0;
// CHECK-NEXT:     out[0] = a != 0 || b != 0;
// CHECK-NEXT: }
//
// CHECK:      __kernel void no_wrap(int a, int b, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     int v = a + b;
// CHECK-NEXT:     out[0] = v;
// CHECK-NEXT:     int v_1 = v - b;
// CHECK-NEXT:     out[0] = v_1;
// CHECK-NEXT:     out[0] = v_1 * v_1;
// CHECK-NEXT: }
//
// CHECK:      __kernel void chain(int a, int b, int c, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     out[0] = (uint)((((int)((uint)a * b + c - 3) >> c) & a) | b) / (uint)c;
// CHECK-NEXT: }
//
// CHECK:      __kernel void vectors(int4 a, int4 b, __global int *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) + as_uint4(b)), 0, out);
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) - as_uint4(b)), 0, out);
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) * as_uint4(b)), 0, out);
// CHECK-NEXT:     vstore4(a / b, 0, out);
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) / as_uint4(b)), 0, out);
// CHECK-NEXT:     vstore4(floordiv_int4(a, b), 0, out);
// CHECK-NEXT:     vstore4(as_int4(ceildiv_uint4(as_uint4(a), as_uint4(b))), 0, out);
// CHECK-NEXT:     vstore4(a & b, 0, out);
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) << b), 0, out);
// CHECK-NEXT:     vstore4(a >> b, 0, out);
// CHECK-NEXT:     vstore4(as_int4(as_uint4(a) >> b), 0, out);
// CHECK-NEXT:     vstore4(min(a, b), 0, out);
// CHECK-NEXT:     vstore4(as_int4(max(as_uint4(a), as_uint4(b))), 0, out);
// CHECK-NEXT: }
