import { useEffect } from 'react'
import { followStored } from './stored-values.ts'

type FollowingForm<Values> = {
  readonly getValues: () => Values
  readonly getInitialValues: () => Values
  readonly setInitialValues: (values: Values) => void
  readonly setValues: (values: Values) => void
}

/**
 * Keeps an open form up to date when its object is fetched again: fields that the user did not
 * change get the new stored values, see `followStored`. The initial values of the form are then the
 * stored ones.
 */
export function useStoredValues<Values extends object>(
  form: FollowingForm<Values>,
  stored: Values,
): void {
  useEffect(() => {
    const opened = form.getInitialValues()
    if (JSON.stringify(stored) === JSON.stringify(opened)) return
    const values = followStored(opened, form.getValues(), stored)
    form.setInitialValues(stored)
    form.setValues(values)
  })
}
