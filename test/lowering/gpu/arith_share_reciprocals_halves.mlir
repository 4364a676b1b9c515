// RUN: tile-opt %s -p arith-share-reciprocals | filecheck %s

// Halves are multiplied by a reciprocal in f32, which needs no correction.
// CHECK:      [[S:%.*]] = arith.extf %s : f16 to f32
// CHECK:      %reciprocal = arith.divf {{.*}}, [[S]] : f32
// CHECK:      scf.for
// CHECK:        [[X:%.*]] = arith.extf %x : vector<16xf16> to vector<16xf32>
// CHECK-NEXT:   [[R:%.*]] = vector.broadcast %reciprocal : f32 to vector<16xf32>
// CHECK-NEXT:   [[P:%.*]] = arith.mulf [[X]], [[R]] : vector<16xf32>
// CHECK-NEXT:   %y = arith.truncf [[P]] : vector<16xf32> to vector<16xf16>
// CHECK-NOT:    arith.divf
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf16, 1 : i32>, f16) -> (), kernel}> ({
  ^bb0(%X: memref<64xf16, 1 : i32>, %s: f16):
    %zero = arith.constant 0 : index
    %step = arith.constant 16 : index
    %end = arith.constant 64 : index
    scf.for %i = %zero to %end step %step {
      %x = vector.load %X[%i] : memref<64xf16, 1 : i32>, vector<16xf16>
      %b = vector.broadcast %s : f16 to vector<16xf16>
      %y = arith.divf %x, %b : vector<16xf16>
      vector.store %y, %X[%i] : memref<64xf16, 1 : i32>, vector<16xf16>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "halves"} : () -> ()
}) : () -> ()
