import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ConsoleKey, ConsoleResponses, KeyUsage } from '../api/responses.ts'
import { DataTable } from '../lists/data-table.tsx'
import { formatCount } from '../format/numbers.ts'
import { CallCost } from '../money/call-cost.tsx'

/** The usage of the keys of a page; undefined while it loads. */
export type UsageOfKeys = ConsoleResponses['/key-usage'] | undefined

type Counts = KeyUsage['day']
const noCalls: Counts = { calls: 0, failed: 0, costMicros: '0', meteredMicros: '0' }

function countsOf(usage: NonNullable<UsageOfKeys>, keyId: string): Omit<KeyUsage, 'keyId'> {
  const found = usage.items.find((item) => item.keyId === keyId)
  return found ?? { day: noCalls, month: noCalls }
}

type CellProps = {
  readonly apiKey: ConsoleKey
  readonly usage: UsageOfKeys
  readonly isFailed?: boolean
}

/** The calls of a key in the last 24 hours, with a link to them in the request log. */
export function DayCalls({ apiKey, usage, isFailed = false }: CellProps) {
  if (!usage) return '…'
  const { day } = countsOf(usage, apiKey.keyId)
  const period = { fromUtc: usage.dayFromUtc, isFailed, name: 'in 24 hours' }
  return <CallsLink apiKey={apiKey} counts={day} period={period} />
}

type UsagePeriod = { readonly fromUtc: string; readonly isFailed: boolean; readonly name: string }

type CallsLinkProps = {
  readonly apiKey: ConsoleKey
  readonly counts: Counts
  readonly period: UsagePeriod
}

function CallsLink({ apiKey, counts, period }: CallsLinkProps) {
  const { keyId, projectId, name } = apiKey
  const { fromUtc, isFailed } = period
  const count = isFailed ? counts.failed : counts.calls
  if (count === 0) return '0'
  const search = { projectId, keyId, fromUtc, ...(isFailed && { result: 'failed' }) }
  const calls = isFailed ? 'failed calls' : 'calls'
  return (
    <Anchor
      size="sm"
      aria-label={`${formatCount(count)} ${calls} of ${name} ${period.name}`}
      renderRoot={(props) => <Link {...props} to="/log" search={search} />}
    >
      {formatCount(count)}
    </Anchor>
  )
}

type TableProps = { readonly apiKey: ConsoleKey; readonly usage: UsageOfKeys }

/** Calls, failures and cost of a key in the last 24 hours and 30 days. */
export function KeyUsageTable({ apiKey, usage }: TableProps) {
  if (!usage) return null
  const { day, month } = countsOf(usage, apiKey.keyId)
  const rows = [
    { title: '24 hours', counts: day, fromUtc: usage.dayFromUtc },
    { title: '30 days', counts: month, fromUtc: usage.monthFromUtc },
  ]
  return (
    <DataTable
      caption="Usage"
      rows={rows}
      rowKey={({ title }) => title}
      columns={[
        { name: 'Last', renderCell: ({ title }) => title },
        ...[false, true].map((isFailed) => ({
          name: isFailed ? 'Failed' : 'Calls',
          align: 'right' as const,
          renderCell: ({ title, counts, fromUtc }: (typeof rows)[number]) => (
            <CallsLink
              apiKey={apiKey}
              counts={counts}
              period={{ fromUtc, isFailed, name: `in ${title}` }}
            />
          ),
        })),
        { name: 'Cost', align: 'right', renderCell: ({ counts }) => <CallCost call={counts} /> },
      ]}
      empty={null}
    />
  )
}
