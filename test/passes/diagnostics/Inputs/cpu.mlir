// A CPU, as tile-opt --device has it from a file.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {
}
