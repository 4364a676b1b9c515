// An AMD GPU with 60 compute units (RDNA 3).
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
  "type" = "gpu",
  "platform" = "AMD Accelerated Parallel Processing",
  "compute_units" = 60 : i64,
  "max_work_group_size" = 256 : i64,
  "local_mem_size" = 65536 : i64,
  "global_mem_size" = 17179869184 : i64,
  "max_mem_alloc_size" = 13958643712 : i64,
  "buffer_alignment" = 256 : i64,
  "preferred_vector_width" = 1 : i64,
  "native_vector_width" = 1 : i64,
  "fp64" = true,
  "fp16" = true,
  "compute_capability" = 0 : i64,
  "bandwidth" = 6.000000e+02 : f64,
  "arithmetic" = 2.000000e+04 : f64,
  "launch" = 8.000000e+00 : f64
>>} {}
