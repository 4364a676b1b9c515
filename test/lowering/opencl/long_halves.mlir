// RUN: tile-opt %s -t opencl | filecheck %s

// A long vector of halves that is stored and goes on is rounded once, to its bits; one that is not stored to its
// value. What goes past the caches are bits, too.
// CHECK:      static inline short8 round_half8_to_bits(float8 x)
// CHECK-NEXT: {
// CHECK-NEXT:     short8 bits;
// CHECK-NEXT:     vstore_half8_rte(x, 0, (half *)&bits);
// CHECK-NEXT:     return bits;
// CHECK-NEXT: }
// CHECK:      static inline float8 round_half8_from_bits(short8 bits)
// CHECK:      __kernel void f(
// CHECK:          float8 x = vload_half8(0, h);
// CHECK-NEXT:     short8 y_bits = round_half8_to_bits(x * x);
// CHECK-NEXT:     float8 y = round_half8_from_bits(y_bits);
// CHECK-NEXT:     vstore8(y_bits, 0, (__global short *)(h));
// CHECK-NEXT:     vstore_half8_rte(y + x, 0, h);
// CHECK-NEXT:     stream_short8(round_half8_to_bits(y + x), (__global short *)(o));
// CHECK-NEXT:     float8 w = round_half8(y * x);
// CHECK-NEXT:     vstore_half8_rte(w + w, 0, h);
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf16, 1 : i32>, memref<8xf16, 1 : i32>) -> (), kernel}> ({
  ^bb0(%h: memref<8xf16, 1 : i32>, %o: memref<8xf16, 1 : i32>):
    %c0 = arith.constant 0 : index
    %x = vector.load %h[%c0] : memref<8xf16, 1 : i32>, vector<8xf16>
    %y = arith.mulf %x, %x : vector<8xf16>
    vector.store %y, %h[%c0] : memref<8xf16, 1 : i32>, vector<8xf16>
    %z = arith.addf %y, %x : vector<8xf16>
    vector.store %z, %h[%c0] : memref<8xf16, 1 : i32>, vector<8xf16>
    %t = arith.addf %y, %x : vector<8xf16>
    vector.store %t, %o[%c0] {nontemporal = true} : memref<8xf16, 1 : i32>, vector<8xf16>
    %w = arith.mulf %y, %x : vector<8xf16>
    %v = arith.addf %w, %w : vector<8xf16>
    vector.store %v, %h[%c0] : memref<8xf16, 1 : i32>, vector<8xf16>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
