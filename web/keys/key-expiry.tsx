import { Select } from '@mantine/core'
import { utcFromPicker } from '../format/picker-utc.ts'
import { UtcDateTimePicker } from '../forms/utc-date-time-picker.tsx'

type Props = {
  /** The selected value; null: none. */
  readonly expiry: string | null
  readonly getInputProps: (field: 'expiry' | 'expires') => object
  /** Offers to keep the present expiry, which this text describes. */
  readonly keepText?: string
}

const dayMs = 86_400_000

/** Values that are whole numbers are days. */
const choices = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
]

/** Selects when a key expires. There is no default, so that a key without an end is a choice. */
export function KeyExpiry({ expiry, getInputProps, keepText }: Props) {
  return (
    <>
      <Select
        label="Expires"
        description="A program whose key has expired is rejected with 401."
        placeholder="Choose when the key expires"
        required
        allowDeselect={false}
        data={keepText ? [{ value: 'keep', label: keepText }, ...choices] : choices}
        {...getInputProps('expiry')}
      />
      {expiry === 'date' && (
        <UtcDateTimePicker label="Expires at (UTC)" required {...getInputProps('expires')} />
      )}
    </>
  )
}

/** Returns the expiry of a key as the API expects it; null: never. */
export function expiryUtc(expiry: string | null, date: string | null): string | null {
  if (expiry === 'never') return null
  if (expiry === 'date') return date && utcFromPicker(date)
  return new Date(Date.now() + Number(expiry) * dayMs).toISOString()
}
