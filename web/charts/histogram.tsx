import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'

type Props = {
  readonly label: string
  /** One more than there are counts: where each bin begins, and where the last one ends. */
  readonly edges: readonly number[]
  readonly counts: readonly number[]
  readonly threshold: number | null
}

/** How often each score came, with the threshold drawn in. */
export function Histogram({ label, edges, counts, threshold }: Props) {
  const data = counts.map((calls, i) => ({ bin: (edges[i] ?? 0).toFixed(2), calls }))
  const line = threshold === null ? undefined : binLabelOf(edges, threshold)
  return (
    <ChartFrame label={label}>
      <BarChart
        h={220}
        data={data}
        dataKey="bin"
        series={[{ name: 'calls', label: 'Calls', color: 'petrol.5' }]}
        tickLine="none"
        gridAxis="x"
        barProps={{ isAnimationActive: false }}
        {...(line === undefined
          ? {}
          : {
              referenceLines: [
                { x: line, color: 'signal.5', label: `threshold ${threshold?.toFixed(2)}` },
              ],
            })}
      />
    </ChartFrame>
  )
}

/** The name of the bin that a score falls into. */
function binLabelOf(edges: readonly number[], score: number): string {
  const begins = edges.filter((edge, i) => edge <= score && i < edges.length - 1)
  return (begins.at(-1) ?? edges[0] ?? 0).toFixed(2)
}
