import { BarChart } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { ChartFrame } from './chart-frame.tsx'

type Props = {
  readonly label: string
  /** The lower edge of each bin, followed by the upper edge of the last bin. */
  readonly edges: readonly number[]
  readonly counts: readonly number[]
  readonly threshold: number | null
  /** Opens the calls of the chart. The panel of the chart offers the same with the keyboard. */
  readonly onSelect?: () => void
}

/** The number of calls per score, with a line at the threshold. */
export function Histogram({ label, edges, counts, threshold, onSelect }: Props) {
  const data = counts.map((calls, index) => ({ bin: (edges[index] ?? 0).toFixed(2), calls }))
  const thresholdLabel = threshold === null ? undefined : binLabelOf(edges, threshold)
  return (
    <ChartFrame label={label}>
      <BarChart
        h={220}
        data={data}
        dataKey="bin"
        series={[{ name: 'calls', label: 'Calls', color: 'petrol.5' }]}
        tickLine="none"
        gridAxis="x"
        barProps={{
          isAnimationActive: false,
          ...(onSelect && { className: 'fg-bar', onClick: onSelect }),
        }}
        {...(thresholdLabel === undefined
          ? {}
          : {
              referenceLines: [
                {
                  x: thresholdLabel,
                  color: 'signal.5',
                  label: `Threshold ${threshold?.toFixed(2)}`,
                },
              ],
            })}
      />
    </ChartFrame>
  )
}

/** Returns the label of the bin that contains a score. */
function binLabelOf(edges: readonly number[], score: number): string {
  const lowerEdges = edges.filter((edge, index) => edge <= score && index < edges.length - 1)
  return (lowerEdges.at(-1) ?? edges[0] ?? 0).toFixed(2)
}
