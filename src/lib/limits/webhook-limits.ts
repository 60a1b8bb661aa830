/** For how long events are also signed with the earlier secret of a webhook, hours. */
export const overlapHoursDefault = 24
export const overlapHoursMax = 168
