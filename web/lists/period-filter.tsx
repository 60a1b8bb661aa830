import { Select } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import '@mantine/dates/styles.css'
import { pickerFromUtc, utcFromPicker } from '../format/picker-utc.ts'

type PeriodRange = { readonly fromUtc?: string | undefined; readonly toUtc?: string | undefined }
type Props = PeriodRange & { readonly onChange: (period: PeriodRange) => void }

const hourMs = 3_600_000
const periodOptions = [
  { value: String(hourMs), label: 'Last hour' },
  { value: String(24 * hourMs), label: 'Last 24 hours' },
  { value: String(7 * 24 * hourMs), label: 'Last 7 days' },
  { value: String(30 * 24 * hourMs), label: 'Last 30 days' },
]

/** Filters by start and end time, in UTC. A preset sets a fixed start, so that the URL stays valid. */
export function PeriodFilter({ fromUtc, toUtc, onChange }: Props) {
  return (
    <>
      <Select
        size="xs"
        label="Period"
        placeholder="Custom"
        w={130}
        data={periodOptions}
        value={null}
        onChange={(durationMs) => {
          if (durationMs)
            onChange({ fromUtc: isoOf(Date.now() - Number(durationMs)), toUtc: undefined })
        }}
      />
      <UtcDateTimePicker
        label="From (UTC)"
        value={fromUtc}
        onChange={(timestampUtc) => onChange({ fromUtc: timestampUtc, toUtc })}
      />
      <UtcDateTimePicker
        label="To (UTC)"
        value={toUtc}
        onChange={(timestampUtc) => onChange({ fromUtc, toUtc: timestampUtc })}
      />
    </>
  )
}

type UtcDateTimePickerProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function UtcDateTimePicker({ label, value, onChange }: UtcDateTimePickerProps) {
  return (
    <DateTimePicker
      size="xs"
      w={180}
      label={label}
      placeholder="Any"
      valueFormat="YYYY-MM-DD HH:mm"
      clearable
      clearButtonProps={{ 'aria-label': `Any: ${label}` }}
      value={value ? pickerFromUtc(value) : null}
      onChange={(picked) => onChange(picked ? utcFromPicker(picked) : undefined)}
    />
  )
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z')
}
