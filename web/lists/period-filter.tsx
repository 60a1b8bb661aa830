import { Select } from '@mantine/core'
import { pickerFromUtc, utcFromPicker } from '../format/picker-utc.ts'
import { UtcDateTimePicker } from '../forms/utc-date-time-picker.tsx'

type PeriodRange = {
  readonly fromUtc?: string | undefined
  readonly toUtc?: string | undefined
  /** A period that ends now, by its name in the API. It replaces both times. */
  readonly period?: string | undefined
}
type Props = PeriodRange & { readonly onChange: (range: PeriodRange) => void }

const periodOptions = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]

/** Filters by a period that ends now, or by start and end time in UTC. */
export function PeriodFilter({ fromUtc, toUtc, period, onChange }: Props) {
  return (
    <>
      <Select
        size="xs"
        label="Period"
        placeholder={fromUtc || toUtc ? 'Custom' : 'Any time'}
        className="fg-period"
        data={periodOptions}
        value={period ?? null}
        clearable
        clearButtonProps={{ 'aria-label': 'Any time' }}
        onChange={(chosen) =>
          onChange({ period: chosen ?? undefined, fromUtc: undefined, toUtc: undefined })
        }
      />
      {period === undefined && (
        <>
          <TimeFilter
            label="From (UTC)"
            value={fromUtc}
            onChange={(utc) => onChange({ fromUtc: utc, toUtc, period })}
          />
          <TimeFilter
            label="To (UTC)"
            value={toUtc}
            onChange={(utc) => onChange({ fromUtc, toUtc: utc, period })}
          />
        </>
      )}
    </>
  )
}

type TimeFilterProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function TimeFilter({ label, value, onChange }: TimeFilterProps) {
  return (
    <UtcDateTimePicker
      size="xs"
      className="fg-date-time"
      label={label}
      placeholder="Any"
      clearable
      clearButtonProps={{ 'aria-label': `Any: ${label}` }}
      value={value ? pickerFromUtc(value) : null}
      onChange={(picked) => onChange(picked ? utcFromPicker(picked) : undefined)}
    />
  )
}
