// RUN: tile-opt %s -p arith-share-reciprocals | filecheck %s

// Short vectors are divided as they are, by constants, and in loops of few steps.
// CHECK-COUNT-2: arith.divf {{.*}} : vector<8xf32>
// CHECK-NOT:     arith.divf
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, f32) -> (), kernel}> ({
  ^bb0(%X: memref<64xf32, 1 : i32>, %s: f32):
    %zero = arith.constant 0 : index
    %step = arith.constant 8 : index
    %few = arith.constant 32 : index
    %end = arith.constant 64 : index
    %c = arith.constant 3.0 : f32
    scf.for %i = %zero to %end step %step {
      %x = vector.load %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %b = vector.broadcast %c : f32 to vector<8xf32>
      %y = arith.divf %x, %b : vector<8xf32>
      vector.store %y, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
    }
    scf.for %i = %zero to %few step %step {
      %x = vector.load %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %b = vector.broadcast %s : f32 to vector<8xf32>
      %y = arith.divf %x, %b : vector<8xf32>
      vector.store %y, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "short"} : () -> ()
}) : () -> ()
