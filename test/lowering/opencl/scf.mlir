// RUN: tile-opt %s -t opencl | filecheck %s

// Structured control flow: a value that is carried is one variable.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<64xf32>, memref<1xf32>, index, index) -> (), kernel}> ({
  ^bb0(%a : memref<64xf32>, %out : memref<1xf32>, %n : index, %limit : index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %y = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f32) {
      %inner = scf.for %x = %c1 to %n step %c3 iter_args(%acc1 = %acc) -> (f32) {
        %at = arith.addi %x, %y : index
        %inside = arith.cmpi slt, %at, %limit : index
        %guarded = scf.if %inside -> (f32) {
          %value = memref.load %a[%at] : memref<64xf32>
          %more = arith.addf %acc1, %value : f32
          scf.yield %more : f32
        } else {
          scf.yield %acc1 : f32
        }
        scf.yield %guarded : f32
      }
      scf.yield %inner : f32
    }
    memref.store %sum, %out[%c0] : memref<1xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "accumulate"} : () -> ()

  "gpu.func"() <{function_type = (memref<2xf32>, f32, i32) -> (), kernel}> ({
  ^bb0(%out : memref<2xf32>, %x : f32, %n : i32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    %one = arith.constant 1.0 : f32
    %a, %b = scf.for %i = %zero to %n step %two iter_args(%u = %x, %v = %one) -> (f32, f32) : i32 {
      scf.yield %v, %u : f32, f32
    }
    %p, %q = scf.for %i = %zero to %n step %two iter_args(%u = %a, %v = %a) -> (f32, f32) : i32 {
      %w = arith.mulf %u, %v : f32
      %s = arith.addf %w, %u : f32
      scf.yield %w, %s : f32, f32
    }
    memref.store %p, %out[%c0] : memref<2xf32>
    %r = arith.addf %q, %b : f32
    memref.store %r, %out[%c1] : memref<2xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "carried"} : () -> ()

  "gpu.func"() <{function_type = (memref<4xf32>, f32, f32, i1, index) -> (), kernel}> ({
  ^bb0(%out : memref<4xf32>, %x : f32, %y : f32, %flag : i1, %i : index):
    %c0 = arith.constant 0 : index
    %greater = arith.cmpf ogt, %x, %y : f32
    %r = scf.if %greater -> (f32) {
      scf.yield %x : f32
    } else {
      %s = arith.mulf %y, %x : f32
      scf.yield %s : f32
    }
    scf.if %flag {
      memref.store %r, %out[%i] : memref<4xf32>
    }
    scf.if %flag {
    } else {
      memref.store %x, %out[%i] : memref<4xf32>
    }
    scf.if %flag {
      memref.store %x, %out[%c0] : memref<4xf32>
    } else {
      memref.store %y, %out[%c0] : memref<4xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "branches"} : () -> ()

  "gpu.func"() <{function_type = (memref<64xf32>, memref<64xf32>, index) -> (), kernel}> ({
  ^bb0(%a : memref<64xf32>, %out : memref<64xf32>, %n : index):
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %power = scf.while (%s = %c1) : (index) -> index {
      %less = arith.cmpi slt, %s, %n : index
      scf.condition(%less) %s : index
    } do {
    ^bb0(%t : index):
      %double = arith.muli %t, %c2 : index
      scf.yield %double : index
    }
    %total, %last = scf.while (%i = %c1, %sum = %zero) : (index, f32) -> (f32, index) {
      %l = memref.load %a[%i] : memref<64xf32>
      %less = arith.cmpf olt, %sum, %l : f32
      %next = arith.addf %sum, %l : f32
      scf.condition(%less) %next, %i : f32, index
    } do {
    ^bb0(%t : f32, %j : index):
      %k = arith.addi %j, %power : index
      scf.yield %k, %t : index, f32
    }
    memref.store %total, %out[%last] : memref<64xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "whiles"} : () -> ()

  "gpu.func"() <{function_type = (memref<4xf32>, f32, index) -> (), kernel}> ({
  ^bb0(%out : memref<4xf32>, %x : f32, %i : index):
    %zero = arith.constant 0.0 : f32
    %r = scf.index_switch %i -> f32
    case 0 {
      scf.yield %x : f32
    }
    case 3 {
      %m = arith.negf %x : f32
      scf.yield %m : f32
    }
    default {
      scf.yield %zero : f32
    }
    memref.store %r, %out[%i] : memref<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "switched"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

// CHECK:      __kernel void accumulate(
// CHECK-NEXT:     const __global float *restrict a,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int n,
// CHECK-NEXT:     int limit)
// CHECK-NEXT: {
// CHECK-NEXT:     float acc = 0.0f;
// CHECK-NEXT:     for (int y = 0; y < 8; ++y) {
// CHECK-NEXT:         for (int x = 1; x < n; x += 3) {
// CHECK-NEXT:             int at = x + y;
// CHECK-NEXT:             if (at < limit) {
// CHECK-NEXT:                 acc += a[at];
// CHECK-NEXT:             }
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT:     out[0] = acc;
// CHECK-NEXT: }
//
// CHECK:      __kernel void carried(__global float *restrict out, float x, int n)
// CHECK-NEXT: {
// CHECK-NEXT:     float u = x;
// CHECK-NEXT:     float v = 1.0f;
// CHECK-NEXT:     for (int i = 0; i < n; i += 2) {
// CHECK-NEXT:         float new_u = v;
// CHECK-NEXT:         v = u;
// CHECK-NEXT:         u = new_u;
// CHECK-NEXT:     }
// CHECK-NEXT:     float v_1 = u;
// CHECK-NEXT:     for (int i = 0; i < n; i += 2) {
// CHECK-NEXT:         float w = u * v_1;
// CHECK-NEXT:         v_1 = w + u;
// CHECK-NEXT:         u = w;
// CHECK-NEXT:     }
// CHECK-NEXT:     out[0] = u;
// CHECK-NEXT:     out[1] = v_1 + v;
// CHECK-NEXT: }
//
// CHECK:      __kernel void branches(__global float *restrict out, float x, float y, uchar flag, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     float r;
// CHECK-NEXT:     if (x > y) {
// CHECK-NEXT:         r = x;
// CHECK-NEXT:     } else {
// CHECK-NEXT:         r = y * x;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (flag != 0) {
// CHECK-NEXT:         out[i] = r;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (flag == 0) {
// CHECK-NEXT:         out[i] = x;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (flag != 0) {
// CHECK-NEXT:         out[0] = x;
// CHECK-NEXT:     } else {
// CHECK-NEXT:         out[0] = y;
// CHECK-NEXT:     }
// CHECK-NEXT: }
//
// CHECK:      __kernel void whiles(const __global float *restrict a, __global float *restrict out, int n)
// CHECK-NEXT: {
// CHECK-NEXT:     int s = 1;
// CHECK-NEXT:     while (s < n) {
// CHECK-NEXT:         s *= 2;
// CHECK-NEXT:     }
// CHECK-NEXT:     int i = 1;
// CHECK-NEXT:     float sum = 0.0f;
// CHECK-NEXT:     float total;
// CHECK-NEXT:     while (true) {
// CHECK-NEXT:         float l = a[i];
// CHECK-NEXT:         total = sum + l;
// CHECK-NEXT:         if (!(sum < l)) {
// CHECK-NEXT:             break;
// CHECK-NEXT:         }
// CHECK-NEXT:         i += s;
// CHECK-NEXT:         sum = total;
// CHECK-NEXT:     }
// CHECK-NEXT:     out[i] = total;
// CHECK-NEXT: }
//
// CHECK:      __kernel void switched(__global float *restrict out, float x, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     float r;
// CHECK-NEXT:     switch (i) {
// CHECK-NEXT:     case 0: {
// CHECK-NEXT:         r = x;
// CHECK-NEXT:         break;
// CHECK-NEXT:     }
// CHECK-NEXT:     case 3: {
// CHECK-NEXT:         r = -x;
// CHECK-NEXT:         break;
// CHECK-NEXT:     }
// CHECK-NEXT:     default: {
// CHECK-NEXT:         r = 0.0f;
// CHECK-NEXT:         break;
// CHECK-NEXT:     }
// CHECK-NEXT:     }
// CHECK-NEXT:     out[i] = r;
// CHECK-NEXT: }
