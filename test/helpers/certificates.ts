import { generate } from 'selfsigned'

const DAY_MS = 24 * 60 * 60 * 1000

/** A key and a self-signed certificate for the given name or address, valid for a day from `from` on. */
export async function createCertificate(
  host: { ip: string } | { name: string },
  from = new Date(Date.now() - 60_000),
): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'fault.test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: from,
    notAfterDate: new Date(from.getTime() + DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: ['ip' in host ? { type: 7, ip: host.ip } : { type: 2, value: host.name }],
      },
    ],
  })
  return { key, cert }
}
