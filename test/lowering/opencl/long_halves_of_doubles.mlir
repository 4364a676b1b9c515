// RUN: tile-opt %s -t opencl | filecheck %s

// Doubles are rounded to halves once, before these are stored as bits: that helper takes floats.
// CHECK:      static inline short8 round_half8_to_bits(float8 x)
// CHECK:      __kernel void f(
// CHECK:          stream_short8(round_half8_to_bits(round_half8_double(vload8(0, d))), (__global short *)(h));
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf64, 1 : i32>, memref<8xf16, 1 : i32>) -> (), kernel}> ({
  ^bb0(%d: memref<8xf64, 1 : i32>, %h: memref<8xf16, 1 : i32>):
    %c0 = arith.constant 0 : index
    %x = vector.load %d[%c0] : memref<8xf64, 1 : i32>, vector<8xf64>
    %y = arith.truncf %x : vector<8xf64> to vector<8xf16>
    vector.store %y, %h[%c0] {nontemporal = true} : memref<8xf16, 1 : i32>, vector<8xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
