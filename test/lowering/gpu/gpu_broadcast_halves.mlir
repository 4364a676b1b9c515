// RUN: tile-opt %s -p gpu-broadcast-halves | filecheck %s
// RUN: tile-opt %s -p gpu-broadcast-halves -t opencl | filecheck %s --check-prefix=OPENCL

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xf16, 1 : i32>, memref<8xf32, 1 : i32>, index) -> (), kernel}> ({
  ^bb0(%a: memref<8xf16, 1 : i32>, %d: memref<8xf32, 1 : i32>, %i: index):
    %v = vector.load %d[%i] : memref<8xf32, 1 : i32>, vector<4xf32>

    // The bits of one that only vectors are computed with are broadcast, once for each type.
    // CHECK:      %x = memref.load
    // CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %x : f16 to i16
    // CHECK-DAG:  %[[FOUR:.*]] = vector.broadcast %[[BITS]] : i16 to vector<4xi16>
    // CHECK-DAG:  %[[HALVES:.*]] = arith.bitcast %[[FOUR]] : vector<4xi16> to vector<4xf16>
    // CHECK-DAG:  %[[X:.*]] = arith.extf %[[HALVES]] : vector<4xf16> to vector<4xf32>
    // CHECK-DAG:  %[[TWO:.*]] = vector.broadcast %[[BITS]] : i16 to vector<2xi16>
    // CHECK-DAG:  %[[PAIR:.*]] = arith.bitcast %[[TWO]] : vector<2xi16> to vector<2xf16>
    // CHECK-NOT:  vector.broadcast
    // CHECK:      %p = arith.mulf %[[X]], %v : vector<4xf32>
    // CHECK-NEXT: %q = arith.addf %p, %[[X]] : vector<4xf32>
    // CHECK:      vector.store %[[PAIR]], %a
    // OPENCL:      short x = ((const __global short *)a)[i];
    // OPENCL-NEXT: float4 v = round_half4_from_bits((short4)(x));
    // OPENCL-NEXT: vstore4(v * vload4(0, d + i) + v, 0, d + i);
    // OPENCL-NEXT: vstore2((short2)(x), 0, (__global short *)(a + i));
    %x = memref.load %a[%i] : memref<8xf16, 1 : i32>
    %wide = arith.extf %x : f16 to f32
    %xs = vector.broadcast %wide : f32 to vector<4xf32>
    %p = arith.mulf %xs, %v : vector<4xf32>
    %again = vector.broadcast %wide : f32 to vector<4xf32>
    %q = arith.addf %p, %again : vector<4xf32>
    vector.store %q, %d[%i] : memref<8xf32, 1 : i32>, vector<4xf32>
    %two = vector.broadcast %x : f16 to vector<2xf16>
    vector.store %two, %a[%i] : memref<8xf16, 1 : i32>, vector<2xf16>

    // One that is used by itself, too, stays.
    // CHECK:      %y = memref.load
    // CHECK-NEXT: %alone = arith.extf %y : f16 to f32
    // CHECK-NEXT: %ys = vector.broadcast %alone : f32 to vector<4xf32>
    %y = memref.load %a[%i] : memref<8xf16, 1 : i32>
    %alone = arith.extf %y : f16 to f32
    %ys = vector.broadcast %alone : f32 to vector<4xf32>
    vector.store %ys, %d[%i] : memref<8xf32, 1 : i32>, vector<4xf32>
    memref.store %alone, %d[%i] : memref<8xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> ()
}) : () -> ()
