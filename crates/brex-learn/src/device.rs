//! Where networks are computed: on the CPU, or on a GPU of a kind that was built in.

use burn::tensor::Device;
use std::fmt;
use std::str::FromStr;

/// A kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The processor, with kernels of our own.
    Cpu,
    /// NVIDIA's GPUs.
    Cuda,
    /// Apple's GPUs.
    Metal,
    /// Whatever the system's graphics interface offers: Vulkan, Metal or DirectX.
    Wgpu,
}

impl DeviceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Cuda, Self::Metal, Self::Wgpu];

    /// What it is called on the command line, and the feature that builds it in.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Metal => "metal",
            Self::Wgpu => "wgpu",
        }
    }

    /// The devices of this kind that are there; none if the kind was not built in.
    pub fn devices(self) -> Option<Vec<Device>> {
        match self {
            Self::Cpu => Some(vec![Device::flex()]),
            #[cfg(feature = "cuda")]
            Self::Cuda => Some(listed(burn::tensor::DeviceType::Cuda)),
            #[cfg(feature = "metal")]
            Self::Metal => Some(listed(burn::tensor::DeviceType::Metal)),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Some(listed(burn::tensor::DeviceType::Wgpu)),
            #[allow(unreachable_patterns, reason = "features decide which kinds are left")]
            _ => None,
        }
    }
}

#[cfg(any(feature = "cuda", feature = "metal", feature = "wgpu"))]
fn listed(kind: burn::tensor::DeviceType) -> Vec<Device> {
    Device::enumerate(kind).into_vec()
}

/// A device as the command line names it: `cpu`, `wgpu`, `cuda:1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceName {
    /// Its kind.
    pub kind: DeviceKind,
    /// Which one of that kind, counted from 0.
    pub index: usize,
}

/// Why there is no such device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The text names no kind of device.
    #[error(
        "{found:?} is no device; expected cpu, cuda, metal or wgpu, or one by number, as cuda:1"
    )]
    Unknown {
        /// The text.
        found: String,
    },
    /// The kind is one that this program was built without.
    #[error(
        "this brex was built without {kind}; build one with `cargo build --release --features {kind}`"
    )]
    NotBuilt {
        /// The kind.
        kind: &'static str,
    },
    /// There is no such device here.
    #[error("there is no device {name}; found here of this kind: {count}")]
    NotThere {
        /// Its name.
        name: DeviceName,
        /// How many of its kind there are.
        count: usize,
    },
}

impl Default for DeviceName {
    fn default() -> Self {
        Self {
            kind: DeviceKind::Cpu,
            index: 0,
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => f.write_str(self.kind.name()),
            index => write!(f, "{}:{index}", self.kind.name()),
        }
    }
}

impl FromStr for DeviceName {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let unknown = || DeviceError::Unknown {
            found: text.chars().take(40).collect(),
        };
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, index.parse().map_err(|_| unknown())?),
            None => (text, 0),
        };
        let mut kinds = DeviceKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(unknown)?;
        Ok(Self { kind, index })
    }
}

impl DeviceName {
    /// The device, if it was built in and is there.
    pub fn open(self) -> Result<Device, DeviceError> {
        let kind = self.kind.name();
        let devices = self.kind.devices();
        let mut devices = devices.ok_or(DeviceError::NotBuilt { kind })?;
        let count = devices.len();
        if self.index >= count {
            return Err(DeviceError::NotThere { name: self, count });
        }
        Ok(devices.swap_remove(self.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["cpu", "cuda", "cuda:3", "metal", "wgpu:1"] {
            let name: DeviceName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
        }
        assert_eq!("cpu:0".parse(), Ok(DeviceName::default()));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", ":1", "CPU"] {
            let error = text.parse::<DeviceName>().unwrap_err();
            assert!(matches!(error, DeviceError::Unknown { .. }), "{text}");
        }
    }

    #[test]
    fn there_is_one_processor() {
        assert!(DeviceName::default().open().is_ok());
        let name = DeviceName {
            kind: DeviceKind::Cpu,
            index: 1,
        };
        let expected = DeviceError::NotThere { name, count: 1 };
        assert_eq!(name.open().unwrap_err(), expected);
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_kind_that_was_left_out_says_how_to_get_it() {
        let error = "cuda".parse::<DeviceName>().unwrap().open().unwrap_err();
        assert!(error.to_string().contains("--features cuda"));
    }
}
