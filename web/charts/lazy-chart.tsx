import { Skeleton } from '@mantine/core'
import { lazy, Suspense, type ComponentProps } from 'react'

const Counts = lazy(async () => ({ default: (await import('./count-chart.tsx')).CountChart }))
const Lines = lazy(async () => ({ default: (await import('./line-chart.tsx')).LineChart }))
const Bins = lazy(async () => ({ default: (await import('./histogram.tsx')).Histogram }))
const Curve = lazy(async () => ({ default: (await import('./curve-chart.tsx')).CurveChart }))

/** The charts come after the page: their code is larger than the page itself. */
export const CountChart = (props: ComponentProps<typeof Counts>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <Counts {...props} />
  </Suspense>
)
export const LineChart = (props: ComponentProps<typeof Lines>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <Lines {...props} />
  </Suspense>
)
export const Histogram = (props: ComponentProps<typeof Bins>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <Bins {...props} />
  </Suspense>
)
export const CurveChart = (props: ComponentProps<typeof Curve>) => (
  <Suspense fallback={<Skeleton h={260} />}>
    <Curve {...props} />
  </Suspense>
)
