import { Button } from '@mantine/core'
import type { ConsoleDelivery } from '../api/responses.ts'
import { StatusTag, type StatusTone } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import type { Column } from '../lists/data-table.tsx'

const stateTones: Readonly<Record<ConsoleDelivery['state'], StatusTone>> = {
  pending: 'warn',
  delivered: 'ok',
  failed: 'bad',
}

export const deliveryColumns: readonly Column<ConsoleDelivery>[] = [
  { name: 'Event', renderCell: ({ type }) => type },
  { name: 'Created', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Status',
    renderCell: ({ state }) => <StatusTag tone={stateTones[state]}>{state}</StatusTag>,
  },
  { name: 'Attempts', align: 'right', renderCell: ({ attempts }) => attempts },
  {
    name: 'Result',
    renderCell: ({ error, status }) => error ?? (status === null ? '–' : `status ${status}`),
  },
  {
    name: 'Next attempt',
    renderCell: ({ dueAtUtc }) => <UtcTime timestampUtc={dueAtUtc} fallback="–" />,
  },
]

export function redeliverColumn(
  onRedeliver: (delivery: ConsoleDelivery) => void,
): Column<ConsoleDelivery> {
  return {
    name: 'Actions',
    renderCell: (delivery) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Send ${delivery.type} again`}
        onClick={() => onRedeliver(delivery)}
      >
        Send again
      </Button>
    ),
  }
}
