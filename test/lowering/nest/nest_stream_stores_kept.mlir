// RUN: tile-opt %s -p nest-stream-stores | filecheck %s
// RUN: sed 's/"kept" = 1/"kept" = 0/' %s | tile-opt -p nest-stream-stores | filecheck %s --check-prefix=PAST

// What the device was seen to keep in its caches, a MiB here, is not written past them, though it is
// more than the last of them is said to have.
// CHECK: nest.store %{{.*}}, %R[16*%i] : vector<16xf32>
// PAST:  nest.store %{{.*}}, %R[16*%i] {nontemporal} : vector<16xf32>
builtin.module attributes {gpu.container_module, dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"type" = "cpu", "cache_sizes" = [1024, 2048, 4096], "kept" = 1.0 : f64>>} {
  "gpu.module"() <{sym_name = "m"}> ({
    "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%X: memref<1024xf32, 1 : i32>, %R: memref<1024xf32, 1 : i32>):
      nest.for %i : serial to 64 {
        %x = nest.load %X[16*%i] : memref<1024xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %R[16*%i] : vector<16xf32>, memref<1024xf32, 1 : i32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "copies"} : () -> ()
  }) : () -> ()

  func.func @main(%X: memref<1024xf32, 1 : i32>) -> memref<1024xf32, 1 : i32> {
    %1 = arith.constant 1 : index
    %R = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %X, %R) <{kernel = @m::@copies, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> ()
    func.return %R : memref<1024xf32, 1 : i32>
  }
}
