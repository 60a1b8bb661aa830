import { Skeleton } from '@mantine/core'
import { lazy, Suspense, type ComponentProps } from 'react'

const LazyCountChart = lazy(async () => ({
  default: (await import('./count-chart.tsx')).CountChart,
}))
const LazyLineChart = lazy(async () => ({ default: (await import('./line-chart.tsx')).LineChart }))
const LazyHistogram = lazy(async () => ({ default: (await import('./histogram.tsx')).Histogram }))
const LazyFalseMatchRateChart = lazy(async () => ({
  default: (await import('./false-match-rate-chart.tsx')).FalseMatchRateChart,
}))
const LazyScoreRateChart = lazy(async () => ({
  default: (await import('./score-rate-chart.tsx')).ScoreRateChart,
}))

/** Charts load after the page, because their code is larger than the page. */
export const CountChart = (props: ComponentProps<typeof LazyCountChart>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <LazyCountChart {...props} />
  </Suspense>
)
export const LineChart = (props: ComponentProps<typeof LazyLineChart>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <LazyLineChart {...props} />
  </Suspense>
)
export const Histogram = (props: ComponentProps<typeof LazyHistogram>) => (
  <Suspense fallback={<Skeleton h={220} />}>
    <LazyHistogram {...props} />
  </Suspense>
)
export const FalseMatchRateChart = (props: ComponentProps<typeof LazyFalseMatchRateChart>) => (
  <Suspense fallback={<Skeleton h={260} />}>
    <LazyFalseMatchRateChart {...props} />
  </Suspense>
)
export const ScoreRateChart = (props: ComponentProps<typeof LazyScoreRateChart>) => (
  <Suspense fallback={<Skeleton h={300} />}>
    <LazyScoreRateChart {...props} />
  </Suspense>
)
