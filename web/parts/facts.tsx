import type { ReactNode } from 'react'

/** Names and values, one pair a line. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="fg-facts">
      {Object.entries(facts).map(([name, value]) => (
        <FactLine key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

function FactLine({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
