/** Whether the service broke off the TLS handshake over the client's certificate, or for want of one. */
export function isCertificateAlert(code: string): boolean {
  return /^ERR_SSL_.*ALERT.*(CERT|UNKNOWN_CA)/.test(code)
}
