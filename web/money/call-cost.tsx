import { MoneyAmount } from './money-amount.tsx'

type Props = {
  readonly call: { readonly costMicros: string; readonly meteredMicros: string }
}

/** The cost of a call; with billing off, its price and that it was not charged. */
export function CallCost({ call: { costMicros, meteredMicros } }: Props) {
  if (BigInt(meteredMicros) > 0n)
    return (
      <>
        <MoneyAmount micros={meteredMicros} />, not charged
      </>
    )
  return BigInt(costMicros) > 0n ? <MoneyAmount micros={costMicros} /> : 'Not billed'
}
