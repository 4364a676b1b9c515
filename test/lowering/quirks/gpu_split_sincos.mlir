// RUN: tile-opt %s -p gpu-split-sincos | filecheck %s

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>, index) -> (), kernel}> ({
  ^bb0(%x : memref<8xf32, 1 : i32>, %y : memref<8xf32, 1 : i32>, %i : index):
    %one = arith.constant 1 : index
    // What is only read, and what arithmetic gives, has its cosine with its sine.
    // CHECK:      [[X:%\S+]] = memref.load %x
    // CHECK-NEXT: [[C:%\S+]] = math.cos [[X]]
    // CHECK-NEXT: [[S:%\S+]] = math.sin [[X]]
    // CHECK-NEXT: [[A:%\S+]] = arith.addf
    // CHECK-NEXT: math.cos [[A]]
    %a = memref.load %x[%i] : memref<8xf32, 1 : i32>
    %c = math.cos %a : f32
    %s = math.sin %a : f32
    %sum = arith.addf %c, %s : f32
    %cs = math.cos %sum : f32
    // A sine, what is carried by a loop, and what the kernel writes may be sines.
    // CHECK-NEXT: [[F:%\S+]] = math.absf [[S]]
    // CHECK-NEXT: math.cos [[F]]
    %d = math.cos %s : f32
    // CHECK:      scf.for {{.*}} iter_args([[T:%\S+]] =
    // CHECK-NEXT: [[G:%\S+]] = math.absf [[T]]
    // CHECK-NEXT: math.cos [[G]]
    %r = scf.for %k = %one to %i step %one iter_args(%t = %d) -> (f32) {
      %e = math.cos %t : f32
      scf.yield %e : f32
    }
    %q = arith.addf %r, %cs : f32
    memref.store %q, %y[%i] : memref<8xf32, 1 : i32>
    // CHECK:      [[Y:%\S+]] = memref.load %y
    // CHECK-NEXT: [[H:%\S+]] = math.absf [[Y]]
    // CHECK-NEXT: math.cos [[H]]
    %b = memref.load %y[%one] : memref<8xf32, 1 : i32>
    %z = math.cos %b : f32
    memref.store %z, %y[%one] : memref<8xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
