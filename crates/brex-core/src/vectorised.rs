//! Loops compiled for the vector instructions that the processor at hand has.

/// Work to be compiled for the instruction set at hand.
///
/// A closure would do, were it certain to be inlined: what is not inlined is compiled for the
/// oldest processor. So the work is a struct, and `run` has to be marked `#[inline(always)]`, as
/// has everything that it calls.
pub trait Task {
    /// What the work gives.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

struct Dispatched<T>(T);

impl<T: Task> pulp::WithSimd for Dispatched<T> {
    type Output = T::Output;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.0.run()
    }
}

/// Runs a task with the widest vector instructions that the processor has.
pub fn dispatch<T: Task>(task: T) -> T::Output {
    pulp::Arch::new().dispatch(Dispatched(task))
}

/// Keeps a loop over lanes in the form it is written in.
///
/// The compiler would rather take the same lane of several turns of the loop together, and gather
/// and scatter them at several times the cost. A call of this in the loop's body stops it.
#[inline(always)]
pub fn keep_lanes() {
    std::hint::black_box(());
}
