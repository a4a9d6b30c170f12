/** The version of Lode that this page was built with. */
declare const LODE_VERSION: string;
