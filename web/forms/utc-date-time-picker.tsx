import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'
import '@mantine/dates/styles.css'
import './utc-date-time-picker.css'
import { useId } from 'react'

/** Selects a date and a time in UTC. All its controls have names, and its calendar has the label's. */
export function UtcDateTimePicker(props: Omit<DateTimePickerProps, 'ref'>) {
  const id = useId()
  return (
    <DateTimePicker
      // The calendar has the name of the element with this id.
      id={id}
      popoverProps={{ id }}
      valueFormat="YYYY-MM-DD HH:mm"
      ariaLabels={{
        previousMonth: 'Previous month',
        nextMonth: 'Next month',
        previousYear: 'Previous year',
        nextYear: 'Next year',
        previousDecade: 'Previous decade',
        nextDecade: 'Next decade',
      }}
      timePickerProps={{ hoursInputLabel: 'Hours', minutesInputLabel: 'Minutes' }}
      submitButtonProps={{ 'aria-label': 'Apply' }}
      {...props}
    />
  )
}
