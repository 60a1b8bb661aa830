import { Button, Text } from '@mantine/core'
import type { ConsoleDelivery } from '../api/responses.ts'
import { StatusTag, type StatusTone } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { formatQuantity } from '../format/numbers.ts'
import type { Column } from '../lists/data-table.tsx'

const stateTones: Readonly<Record<ConsoleDelivery['state'], StatusTone>> = {
  pending: 'warn',
  delivered: 'ok',
  failed: 'bad',
}

/** Few columns with two lines each, because the drawer is narrow. */
export const deliveryColumns: readonly Column<ConsoleDelivery>[] = [
  {
    name: 'Event',
    renderCell: ({ type, createdAtUtc }) => (
      <>
        {type}
        <Text size="xs" c="dimmed">
          <UtcTime timestampUtc={createdAtUtc} />
        </Text>
      </>
    ),
  },
  {
    name: 'Status',
    renderCell: ({ state, attempts }) => (
      <>
        <StatusTag tone={stateTones[state]}>{state}</StatusTag>
        <Text size="xs" c="dimmed" className="fg-row-line">
          {formatQuantity(attempts, 'attempt')}
        </Text>
      </>
    ),
  },
  {
    name: 'Result',
    renderCell: ({ error, status, dueAtUtc }) => (
      <>
        {error ?? (status === null ? '–' : `status ${status}`)}
        {dueAtUtc !== null && (
          <Text size="xs" c="dimmed">
            next at <UtcTime timestampUtc={dueAtUtc} />
          </Text>
        )}
      </>
    ),
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
        aria-label={`Send again: ${delivery.type}`}
        onClick={() => onRedeliver(delivery)}
      >
        Send again
      </Button>
    ),
  }
}
