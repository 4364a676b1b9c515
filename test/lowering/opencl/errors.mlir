// RUN: not tile-opt %s -t opencl 2>&1 | filecheck %s

// What cannot be printed ends in one line that names the op and its kernel; test_opencl_printer.py has
// the other cases.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<4xf32>) -> (), kernel}> ({
  ^bb0(%a : memref<4xf32>):
    %lane = "gpu.lane_id"() : () -> index
    %x = memref.load %a[%lane] : memref<4xf32>
    memref.store %x, %a[%lane] : memref<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "k0"} : () -> ()
}) : () -> ()

// CHECK: opencl: cannot print 'gpu.lane_id' in @k0 ({{.*}}errors.mlir:9:13): OpenCL C 1.2 has no subgroups
// CHECK-NOT: Traceback
