//! The flag that says where networks are computed.

use crate::exit::BadInput;
use brex_learn::{Device, DeviceName};

/// Where networks are computed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct DeviceArgument {
    /// Compute networks on cpu, cuda, metal or wgpu, or on one of several, as cuda:1; GPUs need a
    /// brex that was built with the feature of that name
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) device: DeviceName,
}

/// The device, if there is such a one.
pub(crate) fn open(name: DeviceName) -> Result<Device, BadInput> {
    name.open()
        .map_err(|error| BadInput::new(format!("--device {name}: {error}")))
}
