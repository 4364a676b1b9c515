// RUN: tile-opt %s -p gpu-keep-sums | filecheck %s

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf64, 1 : i32>, index, f32, f32, f64) -> (), kernel}> ({
  ^bb0(%x : memref<8xf32, 1 : i32>, %y : memref<8xf64, 1 : i32>, %i : index, %p : f32, %q : f32, %d : f64):
    %one = arith.constant 1.0 : f32
    %same = arith.constant 1.0 : f32
    %other = arith.constant 2.0 : f32
    // The same summand, and the same place in memory as the factor.
    // CHECK:      [[A:%\S+]] = arith.addf %p, %one
    // CHECK-NEXT: [[Z:%\S+]] = arith.constant -0.000000e+00 : f32
    // CHECK-NEXT: math.fma [[A]], %{{.*}}, [[Z]] : f32
    %f = memref.load %x[%i] : memref<8xf32, 1 : i32>
    %a = arith.addf %p, %one : f32
    %af = arith.mulf %a, %f : f32
    // CHECK:      [[B:%\S+]] = arith.subf %same, %q
    // CHECK-NEXT: [[Z:%\S+]] = arith.constant -0.000000e+00 : f32
    // CHECK-NEXT: math.fma %{{.*}}, [[B]], [[Z]] : f32
    %g = memref.load %x[%i] : memref<8xf32, 1 : i32>
    %b = arith.subf %same, %q : f32
    %gb = arith.mulf %g, %b : f32
    // Another factor, another summand, and a sum alone.
    // CHECK-NOT: math.fma
    %af2 = arith.mulf %a, %other : f32
    %c = arith.addf %af2, %other : f32
    %cf = arith.mulf %c, %f : f32
    %e = arith.addf %d, %d : f64
    %ed = arith.mulf %e, %d : f64
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
  "gpu.func"() <{function_type = (vector<4xf32>, vector<4xf32>, f32, f32, f16, f16) -> (), kernel}> ({
  ^bb0(%v : vector<4xf32>, %w : vector<4xf32>, %p : f32, %q : f32, %h : f16, %k : f16):
    // Vectors and halves are not multiplied out.
    %a = arith.addf %v, %w : vector<4xf32>
    %b = arith.addf %w, %w : vector<4xf32>
    %aw = arith.mulf %a, %w : vector<4xf32>
    %bw = arith.mulf %b, %w : vector<4xf32>
    %c = arith.addf %h, %k : f16
    %d = arith.addf %k, %k : f16
    %ck = arith.mulf %c, %k : f16
    %dk = arith.mulf %d, %k : f16
    "gpu.return"() : () -> ()
  }) {sym_name = "g"} : () -> ()
}) : () -> ()
